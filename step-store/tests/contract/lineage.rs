//! Which history of a server a position belongs to, on servers of the test's own.

use std::{
    net::TcpListener,
    process::{Child, Command, Stdio},
};

use domain::Uid;
use plumbing::{Redis, RedisSettings};
use step_store::{Position, Read, RedisSteps, StepStore};
use tempfile::TempDir;

use crate::engine::{now, today, total};

/// A `redis-server` that keeps what it is told.
struct Server {
    folder: TempDir,
    port: u16,
    process: Option<Child>,
}

impl Server {
    fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = Self { folder: tempfile::tempdir().unwrap(), port, process: None };
        server.restart(&[]);
        server
    }

    fn restart(&mut self, options: &[&str]) {
        self.end();
        let mut command = Command::new("redis-server");
        command.args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        command.args(["--appendonly", "yes", "--appendfsync", "always"]).args(options);
        command.arg("--dir").arg(self.folder.path()).stdout(Stdio::null());
        self.process = Some(command.spawn().unwrap());
    }

    /// Kills it.
    fn end(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    fn store(&self) -> RedisSteps {
        let url = format!("redis://127.0.0.1:{}", self.port);
        RedisSteps::new(Redis::new(&RedisSettings::at(vec![url], "t")).unwrap())
    }

    /// The position of part 0, once it is one that is waited for.
    async fn position(&self, wanted: impl Fn(Position) -> bool) -> Position {
        loop {
            match self.store().position(0).await {
                Ok(position) if wanted(position) => return position,
                _ => tokio::task::yield_now().await,
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_restart_and_a_fail_over_are_other_lineages() {
    let (mut first, mut second) = (Server::start(), Server::start());
    let begun = first.position(|_| true).await;
    first.store().report(vec![total(1, 5)], now()).await.unwrap();
    let held = first.position(|_| true).await;
    assert_eq!((begun.lineage, begun.last, held.last), (held.lineage, 0, 1));

    first.restart(&[]);
    let again = first.position(|_| true).await;
    assert!(again.last == 1 && again.lineage != held.lineage);

    // a replica tells of its primary's history, until it takes over
    second.restart(&["--replicaof", "127.0.0.1", &first.port.to_string()]);
    let copy = second.position(|position| position.last == 1).await;
    // with its first replica a primary begins another
    assert_eq!(copy, first.position(|_| true).await);
    first.end();
    let promote = ["-p", &second.port.to_string(), "REPLICAOF", "NO", "ONE"];
    assert!(Command::new("redis-cli").args(promote).stdout(Stdio::null()).status().unwrap().success());
    let promoted = second.position(|_| true).await;
    assert!(promoted.last == 1 && promoted.lineage != copy.lineage);
    assert_eq!(second.store().read_many(&[Uid(1)], today()).await.unwrap(), [Read::Steps(5)]);
    second.store().report(vec![total(1, 6)], now()).await.unwrap();
    assert_eq!(second.position(|_| true).await, Position { last: 2, ..promoted });
}
