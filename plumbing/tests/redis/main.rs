//! The Redis access against servers: commands, scripts, redirections, and the bad days of one server.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod bad_days;
mod checking;
mod commands;
mod moving;
mod place;
mod replicas;
mod server;
mod tls;
