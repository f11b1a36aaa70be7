//! Real servers that belong to one test: on free ports, in a folder of their own, gone with the value or with the test's
//! process, whichever comes first.

mod broker;
mod cluster;
mod guarded;
mod monitor;
mod port;
mod proxy;
mod redis;

pub use broker::Broker;
pub use cluster::RedisCluster;
pub use monitor::Monitor;
pub use port::free_port;
pub use proxy::{Mode, Proxy};
pub use redis::RedisServer;

use guarded::Guarded;
