//! Connections to an AMQP 0-9-1 broker: with TLS where the address says so, a time limit on everything that is awaited,
//! the broker's blocking of publishers seen, and a connection made afresh, for ever, when one is lost.
//!
//! lapin's own recovery is not used: a connection, its channels and what was declared on it live and die together, so
//! that nobody has to ask which half of it came back.

mod address;
mod backoff;
mod broker;
mod error;
mod keeper;
mod kit;
mod link;
mod settings;
mod socket;
mod tls;

pub use backoff::Backoff;
pub use broker::Broker;
pub use error::AmqpError;
pub use keeper::Keeper;
pub use lapin;
pub use link::Link;
pub use settings::AmqpSettings;

#[cfg(test)]
mod tests;
