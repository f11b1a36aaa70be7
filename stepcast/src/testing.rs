//! A small town for tests: a program over a folder of its own, its people, and the evening of 2026-06-07.

use std::{future::pending, path::Path, sync::Arc};

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode, header},
};
use config::Config;
use directory::{Change, NewDevice, NewUser};
use domain::{Instant, Night, Uid};
use night_ledger::Line;
use plumbing::{Clock, Span};
use prometheus_client::registry::Registry;
use sender::channel::{Kind, StubSettings};
use serde_json::Value;
use step_store::Report;
use tempfile::TempDir;
use tower::ServiceExt;

use crate::{
    access::Access,
    commands::night_run,
    ops::{self, OpsState},
    program::Program,
};

/// The program, with its people in UTC. The clock shows five seconds past ten.
pub(crate) struct Town {
    pub(crate) program: Program,
    folder: TempDir,
}

impl Town {
    /// Users 1 to `users` with a device on the stub, of whom 1 to `walkers` have steps.
    pub(crate) async fn new(users: u64, walkers: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = open(folder.path(), |_| ()).await;
        let (now, day) = (program.clock.now(), "20260607".parse().unwrap());
        program.parts.directory.apply((1..=users).map(user).collect(), now).await.unwrap();
        let freezes = crate::freezes::freezes_everywhere(day);
        let steps = (1..=walkers).map(|uid| Report::imported(Uid(uid), day, 5_000, freezes)).collect();
        program.parts.steps.report(steps, now).await.unwrap();
        Self { program, folder }
    }

    /// The same people with other settings.
    pub(crate) async fn with(self, change: impl FnOnce(&mut Config)) -> Self {
        let Self { program, folder } = self;
        drop(program);
        let program = open(folder.path(), change).await;
        Self { program, folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn night(&self) -> Night {
        Night { campaign: "nightly".parse().unwrap(), day: "20260607".parse().unwrap() }
    }

    /// Seals and publishes; nobody sends.
    pub(crate) async fn published(&self) {
        let mut scheduler = self.program.whole_scheduler();
        assert!(!scheduler.tick(self.program.clock.now()).await.unwrap().publishing);
    }

    /// Sends all that is due.
    pub(crate) async fn night_over(&self) {
        assert!(night_run::work(&self.program, self.program.whole_scheduler(), pending()).await.unwrap());
    }

    /// The night's sums; the recount must agree.
    pub(crate) async fn sums(&self) -> Line {
        let (ledger, night) = (&self.program.parts.ledger, self.night());
        let sums = ledger.sums(&night).await.unwrap();
        assert!(sums.agrees(&ledger.recount(&night).await.unwrap()));
        sums.total()
    }

    /// The way of a command that opens the stores itself.
    pub(crate) fn access(&self) -> Access {
        Access::Own(self.router())
    }

    /// A request to the ops API.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let request =
            Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, "application/json");
        let answer =
            self.router().oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap();
        let status = answer.status();
        let bytes = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        (status, serde_json::from_slice(&bytes).unwrap_or_else(|_| text()))
    }

    fn router(&self) -> Router {
        ops::router(Arc::new(OpsState::of(&self.program, None, Registry::default())))
    }
}

async fn open(folder: &Path, change: impl FnOnce(&mut Config)) -> Program {
    let mut config = Config::load(None, []).unwrap();
    config.data = folder.join("data");
    config.campaigns[0].campaign.window = 0;
    for channel in config.channels.values_mut() {
        channel.kind = Kind::Stub(StubSettings { latency: Span::millis(1), error_rate: 0.0 });
    }
    change(&mut config);
    let clock = Clock::system();
    let at: Instant = "2026-06-07T22:00:05Z".parse().unwrap();
    clock.move_to(at);
    Program::open(config, clock).await.unwrap()
}

fn user(uid: u64) -> Change {
    Change::Put(NewUser {
        uid: Uid(uid),
        zone: "UTC".parse().unwrap(),
        region: Default::default(),
        language: Default::default(),
        consent: Some(true),
        consent_at: Some(Instant::UNIX_EPOCH),
        devices: Some(vec![NewDevice {
            channel: "stub".parse().unwrap(),
            address: format!("token-{uid}"),
            registered_at: None,
        }]),
        name: None,
    })
}
