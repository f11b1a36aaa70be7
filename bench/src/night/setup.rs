use std::{path::Path, time::Instant};

use anyhow::{Context, ensure};
use tempfile::TempDir;

use crate::{
    hour::Hour,
    people,
    program::Home,
    servers::{Durability, RabbitMq, Redis},
};

/// The servers of a night.
pub(super) struct Setup {
    program: std::path::PathBuf,
    pub(super) redis: Redis,
    pub(super) broker: RabbitMq,
    folder: TempDir,
}

/// The installations of a night, one a process.
pub(super) struct Homes {
    pub(super) scheduler: Home,
    pub(super) sender: Home,
}

/// The channel that pushes to nobody.
pub(super) const STUB: &str = "[channels.stub]
kind = \"stub\"
latency = \"0ms\"
error_rate = 0.0

[campaigns.nightly]
window = 1
channels = [\"stub\"]
";

/// A channel that pushes to this address.
pub(super) fn hook(url: &str) -> String {
    format!(
        "[channels.hook]\nkind = \"webhook\"\nurl = \"{url}\"\nallow_private = true\n\
         secret = \"whsec_c3RlcGNhc3Qgc3RlcGNhc3Qgc3RlcGNhc3Q=\"\n\n\
         [campaigns.nightly]\nwindow = 1\nchannels = [\"hook\"]\n"
    )
}

impl Setup {
    /// Starts Redis, which keeps everything before it answers, and RabbitMQ.
    pub(super) async fn start(program: &Path) -> anyhow::Result<Self> {
        let folder = crate::program::folder(program)?;
        let redis = Redis::start(folder.path(), Durability::Wal)?;
        let broker = RabbitMq::start(folder.path())?;
        Ok(Self { program: program.to_owned(), redis, broker, folder })
    }

    /// The folder of the servers.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Installations with these channels and campaigns, which trust this certificate and no other.
    pub(super) fn homes(&self, channels: &str, trusted: Option<&Path>) -> anyhow::Result<Homes> {
        let (redis, broker) = (self.redis.url(), self.broker.url());
        let config = format!(
            "rehearsal = true\n\n[ops]\nlisten = \"127.0.0.1:0\"\n\n\
             [stores]\nkind = \"redis\"\nurls = [\"{redis}\"]\n\n\
             [queue]\nkind = \"rabbitmq\"\nurl = \"{broker}\"\n\n{channels}"
        );
        let home = || Ok::<_, anyhow::Error>(Home::make(&self.program, &config)?.trusting(trusted));
        Ok(Homes { scheduler: home()?, sender: home()? })
    }

    /// Imports users of one zone, each with a device on `channel`, with the program's own command.
    pub(super) fn import_users(
        &self,
        homes: &Homes,
        users: u64,
        hour: &Hour,
        channel: &str,
    ) -> anyhow::Result<()> {
        let file = homes.scheduler.path("users.csv");
        people::write_users(&file, users, hour.zones.get(..1).context("no zone")?, channel)?;
        import(homes, "users", &file, "created", users)
    }

    /// Imports what they walked on the `Day`, with the program's own command.
    pub(super) fn import_steps(&self, homes: &Homes, users: u64, hour: &Hour) -> anyhow::Result<()> {
        let file = homes.scheduler.path("steps.csv");
        people::write_steps(&file, users, hour.day)?;
        import(homes, "steps", &file, "stored", users)
    }
}

fn import(homes: &Homes, what: &str, file: &Path, counted: &str, users: u64) -> anyhow::Result<()> {
    let begun = Instant::now();
    let told = homes.scheduler.ask(&["import", what, &file.to_string_lossy(), "--json"])?;
    ensure!(told["counts"][counted] == users && told["refused"] == 0, "import {what}: {told}");
    eprintln!("imported {users} {what} in {:.1?}", begun.elapsed());
    Ok(())
}
