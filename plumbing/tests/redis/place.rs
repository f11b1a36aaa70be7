#![allow(
    clippy::disallowed_methods,
    reason = "the servers' addresses come from the environment of the test run"
)]

use std::hash::{BuildHasher, RandomState};

use plumbing::{Redis, RedisSettings};

/// The one server of the test run.
pub(crate) const SERVER: &str = "STEPCAST_TEST_REDIS";
/// The cluster of the test run.
pub(crate) const CLUSTER: &str = "STEPCAST_TEST_REDIS_CLUSTER";

/// The addresses that a variable of the test run names.
pub(crate) fn urls(variable: &str) -> Vec<String> {
    let urls = std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set: see tests/run"));
    urls.split(',').map(str::to_owned).collect()
}

/// Access to them, under a prefix that nobody else has.
pub(crate) fn redis(variable: &str) -> Redis {
    Redis::new(&RedisSettings::at(urls(variable), format!("plumbing-{}", word()))).unwrap()
}

/// A word that was not there before.
pub(crate) fn word() -> String {
    format!("{:016x}", RandomState::new().hash_one(0))
}
