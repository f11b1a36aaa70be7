use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Context;

use super::{exchange, free_port, ready};
use crate::daemon::Daemon;

/// A Redis server.
pub(crate) struct Redis {
    daemon: Daemon,
    port: u16,
}

/// What a server keeps on the disk, as the program's durability settings demand it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Every command, before it is answered.
    Wal,
    /// Every command, within a second.
    Relaxed,
    /// Nothing.
    Memory,
}

impl Durability {
    fn arguments(self) -> [&'static str; 4] {
        match self {
            Self::Wal => ["--appendonly", "yes", "--appendfsync", "always"],
            Self::Relaxed => ["--appendonly", "yes", "--appendfsync", "everysec"],
            Self::Memory => ["--appendonly", "no", "--appendfsync", "no"],
        }
    }
}

impl Redis {
    /// Starts `redis-server` with a folder of its own inside `folder`.
    pub(crate) fn start(folder: &Path, durability: Durability) -> anyhow::Result<Self> {
        let port = free_port()?;
        let folder = folder.join(format!("redis-{port}"));
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", ""]);
        command.args(["--maxmemory-policy", "noeviction", "--no-appendfsync-on-rewrite", "no"]);
        command.args(durability.arguments()).arg("--dir").arg(&folder);
        command.current_dir(&folder).env_clear().stdin(Stdio::null());
        let mut daemon = Daemon::start("redis-server", &mut command, folder.join("redis.log"))?;
        ready(&mut daemon, || Ok(exchange(port, b"PING\r\n", 7)? == b"+PONG\r\n"))?;
        Ok(Self { daemon, port })
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.daemon.pid()
    }

    /// Its port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "needs redis-server"]
    fn one_starts_keeps_what_it_should_and_ends() {
        let folder = tempfile::tempdir().unwrap();
        let redis = Redis::start(folder.path(), Durability::Wal).unwrap();
        let told = exchange(redis.port(), b"CONFIG GET appendfsync\r\n", 34).unwrap();
        assert!(String::from_utf8_lossy(&told).contains("always"), "{told:?}");
        let port = redis.port();
        drop(redis);
        assert!(exchange(port, b"PING\r\n", 7).is_err());
    }
}
