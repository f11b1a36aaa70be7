use std::path::Path;

use tempfile::TempDir;
use tokio::process::Command;

use super::{Guarded, free_port};
use crate::wait::{MOST, until};

/// A `redis-server` of the test's own: append-only, every write on the disk, nothing evicted, unless told otherwise.
#[derive(Debug)]
pub struct RedisServer {
    folder: TempDir,
    port: u16,
    options: Vec<String>,
    process: Option<Guarded>,
}

impl RedisServer {
    /// Starts one and waits until it answers. `options` are added to the command line, where the last one counts:
    /// `["--maxmemory", "64mb"]`.
    pub async fn start(options: &[&str]) -> Self {
        let mut server = Self::folder(options);
        server.restart().await;
        server
    }

    /// The place of one that does not run.
    fn folder(options: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("stepcast-redis-").tempdir().unwrap();
        let options = options.iter().map(|&o| o.to_owned()).collect();
        Self { folder, port: free_port(), options, process: None }
    }

    /// Starts it again after it ended, on the same port and folder, and waits until it answers.
    pub async fn restart(&mut self) {
        self.process = None;
        let port = self.port.to_string();
        let folder = self.folder.path().to_str().unwrap();
        let own = [
            "redis-server",
            "--port",
            &port,
            "--bind",
            "127.0.0.1",
            "--dir",
            folder,
            "--daemonize",
            "no",
            "--save",
            "",
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
            "--maxmemory-policy",
            "noeviction",
        ];
        let command: Vec<_> = own.into_iter().chain(self.options.iter().map(String::as_str)).collect();
        self.process = Some(Guarded::start(&command, &[], &self.folder.path().join("redis.log")));
        until("redis-server to answer", MOST, async || {
            let ended = self.process.as_mut().is_none_or(Guarded::ended);
            assert!(
                !ended,
                "redis-server ended:\n{}",
                self.process.as_ref().map_or_else(String::new, Guarded::said)
            );
            // one that still loads its file answers LOADING
            (self.try_cli(&["PING"]).await.ok()?.trim() == "PONG").then_some(())
        })
        .await;
    }

    /// Ends it by SIGKILL.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Ends it by SIGTERM: it writes what it has to and goes.
    pub fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            process.signal("TERM");
            process.wait();
        }
    }

    /// Stops it in its tracks: connections stand, nobody answers.
    pub fn freeze(&self) {
        self.process.as_ref().unwrap().signal("STOP");
    }

    /// Lets it go on after [`RedisServer::freeze`].
    pub fn thaw(&self) {
        self.process.as_ref().unwrap().signal("CONT");
    }

    /// Runs one command on it and answers what `redis-cli` prints. Ends the test on an error.
    pub async fn cli(&self, args: &[&str]) -> String {
        self.try_cli(args).await.unwrap_or_else(|error| panic!("redis-cli {args:?}: {error}"))
    }

    /// A number of its `INFO`: `info("used_memory")`.
    pub async fn info(&self, field: &str) -> u64 {
        let info = self.cli(&["INFO"]).await;
        let value = info.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        value.unwrap_or_else(|| panic!("no {field} in INFO")).trim().parse().unwrap()
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// `redis://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// The folder it keeps its files in.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    async fn try_cli(&self, args: &[&str]) -> Result<String, String> {
        let mut command = Command::new("redis-cli");
        command.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]).args(args).kill_on_drop(true);
        let output = command.output().await.map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // without a terminal an error comes as a plain line, in capitals
        let word = text.split(' ').next().unwrap_or_default();
        let refused =
            ["ERR", "LOADING", "READONLY", "OOM", "MISCONF", "CLUSTERDOWN", "MOVED", "NOAUTH", "IOERR"];
        match output.status.success() && !refused.contains(&word) {
            true => Ok(text),
            false => Err(text + &String::from_utf8_lossy(&output.stderr)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_written_outlives_a_kill_and_the_server_does_not_outlive_its_owner() {
        let mut server = RedisServer::start(&[]).await;
        server.cli(&["SET", "steps", "8350"]).await;
        server.kill();
        server.restart().await;
        assert_eq!(server.cli(&["GET", "steps"]).await.trim(), "8350");
        assert!(server.info("used_memory").await > 100_000);
        server.stop();
        server.restart().await;
        let address = server.address();
        drop(server);
        assert!(std::net::TcpStream::connect(address).is_err());
    }
}
