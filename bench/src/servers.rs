//! Servers of a bench's own, on free ports of 127.0.0.1, ended with it.

mod rabbitmq;
mod redis;

use std::{
    net::{Ipv4Addr, TcpListener},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant, SystemTime},
};

use anyhow::bail;
use xxhash_rust::xxh3::xxh3_64;

pub(crate) use self::{
    rabbitmq::RabbitMq,
    redis::{Durability, Redis},
};
use crate::daemon::Daemon;

/// How long a server may take to answer after its start.
const STARTING: Duration = Duration::from_secs(60);

/// A port that nobody listens on now. It lies below those that the system gives to outgoing connections, so that none of
/// those takes it while a server starts.
fn free_port() -> anyhow::Result<u16> {
    static TRIES: AtomicU64 = AtomicU64::new(0);
    let started = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
    for _ in 0..1_000 {
        let seed = format!("{} {started} {}", std::process::id(), TRIES.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(12_000 + xxh3_64(seed.as_bytes()) % 20_000)?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no port from 12000 on is free")
}

/// Waits until the server answers as `asked` finds.
fn ready(daemon: &mut Daemon, asked: impl Fn() -> std::io::Result<bool>) -> anyhow::Result<()> {
    let until = Instant::now() + STARTING;
    while !asked().unwrap_or(false) {
        daemon.check()?;
        if Instant::now() > until {
            bail!("no answer within {STARTING:?}\n{}", daemon.last_lines());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Sends `question` to a port of this machine and reads an answer of `length` bytes.
fn exchange(port: u16, question: &[u8], length: usize) -> std::io::Result<Vec<u8>> {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(question)?;
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer)?;
    Ok(answer)
}
