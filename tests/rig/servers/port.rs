use std::{
    collections::BTreeSet,
    net::TcpListener,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use crate::Chance;

/// Ports that were given away by this process.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// A port on which nobody listens. It lies below those that the system gives to outgoing connections: while a server is
/// down, nobody's connection takes its port, and a client that dials it does not meet itself.
pub fn free_port() -> u16 {
    let seed = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() ^ u128::from(std::process::id()) << 64;
    let mut chance = Chance::new(u64::try_from(seed % u128::from(u64::MAX)).unwrap());
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..10_000 {
        let port = u16::try_from(12_000 + chance.below(20_000)).unwrap();
        if !given.contains(&port) && TcpListener::bind(("127.0.0.1", port)).is_ok() {
            given.insert(port);
            return port;
        }
    }
    panic!("no port between 12,000 and 32,000 is free");
}
