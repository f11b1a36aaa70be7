use std::path::Path;

use anyhow::{Context, ensure};
use tempfile::TempDir;

use super::posting;
use crate::{
    daemon::Daemon,
    people,
    profile::Profile,
    program::Home,
    servers::{Durability, RabbitMq, Redis},
};

/// An installation that takes reports: Redis, which keeps everything before it answers, RabbitMQ, users in UTC and a key.
pub(crate) struct Setup {
    pub(crate) redis: Redis,
    pub(crate) broker: RabbitMq,
    pub(crate) key: String,
    home: Home,
    _folder: TempDir,
}

/// An ingest daemon at work.
pub(crate) struct Ingest {
    pub(crate) daemon: Daemon,
    /// Where it takes reports: `http://HOST:PORT`.
    pub(crate) url: String,
}

impl Setup {
    pub(crate) fn start(program: &Path, users: u64) -> anyhow::Result<Self> {
        let folder = crate::program::folder(program)?;
        let (redis, broker) =
            (Redis::start(folder.path(), Durability::Wal)?, RabbitMq::start(folder.path())?);
        let config = format!(
            "rehearsal = true\n\n[ops]\nlisten = \"127.0.0.1:0\"\n\n\
             [ingest]\nlisten = \"127.0.0.1:0\"\nkey_items_per_second = 10_000_000\n\n\
             [stores]\nkind = \"redis\"\nurls = [\"{}\"]\n\n[queue]\nkind = \"rabbitmq\"\nurl = \"{}\"\n",
            redis.url(),
            broker.url()
        );
        let home = Home::make(program, &config)?;
        let file = home.path("users.csv");
        people::write_users(&file, users, &["UTC".parse()?], "stub")?;
        let told = home.ask(&["import", "users", &file.to_string_lossy(), "--json"])?;
        ensure!(told["counts"]["created"] == users, "import users: {told}");
        let key = home.ask(&["key", "add", "--scope", "reports", "--json"])?;
        let key = key["key"].as_str().context("a key")?.to_owned();
        Ok(Self { redis, broker, key, home, _folder: folder })
    }

    /// Starts a daemon with these arguments beside `ingest run`.
    pub(crate) async fn ingest(&self, arguments: &[&str]) -> anyhow::Result<Ingest> {
        // the address of the one before would be taken for this one's
        let _ = std::fs::remove_file(self.home.data().join("ingest.addr"));
        let mut daemon = self.home.start(&[&["ingest", "run"], arguments].concat())?;
        let url = posting::ready(&self.home, &mut daemon).await?;
        Ok(Ingest { daemon, url })
    }

    /// What all of it uses from now on.
    pub(crate) fn profile(&self, ingest: &Ingest) -> anyhow::Result<Profile> {
        Profile::begin(&[
            ("ingest", ingest.daemon.pid()),
            ("redis", self.redis.pid()),
            ("rabbitmq", self.broker.pid()),
            ("client", std::process::id()),
        ])
    }
}
