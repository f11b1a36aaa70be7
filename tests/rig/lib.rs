//! What the integration tests stand on: a data folder of their own, the real program as a process, a client of its ops
//! API, people to push to, a receiver of webhooks that knows nothing of the ledger, and Redis and
//! RabbitMQ servers to be killed, cut off and filled up.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a rig that fails has nothing better to do than to end the test it is in"
)]

mod chance;
mod command;
mod fleet;
mod people;
mod receiver;
mod running;
mod servers;
mod shared_data;
mod signal;
mod site;
mod wait;
mod walking;

pub use chance::Chance;
pub use command::{Done, program};
pub use fleet::{Daemon, Fleet, Role};
pub use people::{Device, Person};
pub use receiver::{Answer, Receiver, Reception, SECRET};
pub use running::Running;
pub use servers::{Broker, Mode, Monitor, Proxy, RedisCluster, RedisServer, free_port};
pub use shared_data::{from_environment, shared_data};
pub use site::{Site, shift_to};
pub use wait::{MOST, until};
pub use walking::{
    Answer as ReportAnswer, Gateway, Item, MINUTES, RealDay, Recount, Turned, Walked, real_days,
};
