use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use chrono::{DateTime, FixedOffset, Utc};
use rig::{Fleet, Gateway, Person, Recount, Role, Running, Site, free_port, shift_to};

use crate::bad_days::shared_broker::{self, Held};

/// It is the 7th in all zones of these tests.
pub(super) const NOON: &str = "2026-06-07T12:00:00Z";

/// When what is reported there was walked: in the minutes before, so that nobody's clock has to be exact.
pub(super) fn walked_at() -> DateTime<Utc> {
    NOON.parse::<DateTime<Utc>>().unwrap() - chrono::TimeDelta::minutes(10)
}

/// How long a daemon may take to be well after a fault.
pub(super) const SOON: Duration = Duration::from_secs(60);

/// Ingest daemons over shared stores, and the people who report to them.
pub(super) struct Stage {
    /// The daemons.
    pub(super) fleet: Fleet,
    /// A way to each daemon, by its name.
    pub(super) gateways: BTreeMap<&'static str, Gateway>,
    settings: String,
    /// The broker of the feed.
    pub(super) broker: Held,
}

/// One ingest daemon whose clock runs faster.
pub(super) struct Paced {
    /// A way to it.
    pub(super) gateway: Gateway,
    stage: Stage,
    site: Site,
    running: Option<Running>,
    from: DateTime<Utc>,
    rate: u32,
    began: Instant,
}

/// Zones of people, with the offset that they have on the days of these tests.
pub(super) const ZONES: [(&str, i32); 3] =
    [("Asia/Tokyo", 9 * 3_600), ("Asia/Kathmandu", 5 * 3_600 + 45 * 60), ("America/Lima", -5 * 3_600)];

/// The settings of stores: `urls` of servers, and what survives of an answer.
pub(super) fn stores(urls: &[String], cluster: bool, durability: &str) -> String {
    let replicas = if durability == "replicated" { "replicas = 1\n" } else { "" };
    format!(
        "[stores]\nkind = \"redis\"\nurls = {urls:?}\ncluster = {cluster}\nprefix = \"day\"\n\
         durability = \"{durability}\"\n{replicas}timeout = \"1s\"\nconnections = 2\n"
    )
}

/// The offset of somebody's wall clock.
pub(super) fn offset(uid: u64) -> FixedOffset {
    let zone = usize::try_from(uid).unwrap() % ZONES.len();
    FixedOffset::east_opt(ZONES[zone].1).unwrap()
}

impl Stage {
    /// People 1 to `users`, dealt out to the zones, and no daemon yet. The clocks show `at`.
    pub(super) async fn new(stores: &str, at: &str, users: u64) -> Self {
        let broker = shared_broker::shared().await;
        let settings = format!(
            "{stores}[queue]\nkind = \"rabbitmq\"\nurl = \"{}\"\nusername = \"guest\"\npassword = \"guest\"\nprefix = \"day\"\n",
            broker.url()
        );
        let fleet = Fleet::new(&settings, at);
        let people: Vec<_> = (1..=users).map(person).collect();
        fleet.settle(&people, "20260101").await;
        Self { fleet, gateways: BTreeMap::new(), settings, broker }
    }

    /// Starts one more daemon.
    pub(super) async fn start(&mut self, name: &'static str) {
        let (settings, gateway) = self.place(name).await;
        let shift = self.fleet.shift().to_owned();
        self.fleet.start_with(name, Role::Ingest, &settings, &shift).await;
        self.gateways.insert(name, gateway);
    }

    /// Settings for one more daemon, and a way to it.
    async fn place(&self, name: &str) -> (String, Gateway) {
        let port = free_port();
        let settings = format!("{}[ingest]\nlisten = \"127.0.0.1:{port}\"\n", self.settings);
        let key = self.fleet.command(&["key", "add", "--scope", "reports", "--name", name]).await.expect(0);
        (settings, Gateway::new(&format!("http://127.0.0.1:{port}"), key.stdout.trim()))
    }

    /// A way to any of the daemons.
    pub(super) fn gateway(&self) -> &Gateway {
        self.gateways.values().next().expect("a daemon is on")
    }

    /// Every number that was answered as stored is held, and nothing else is.
    pub(super) async fn agrees(mut self, recount: &Recount) {
        self.fleet.healthy(SOON).await;
        agree(self.gateway(), recount).await;
        self.broker.well = true;
    }
}

impl Paced {
    /// One whose clock begins at `from` and runs so many times as fast, with people 1 to `users`.
    pub(super) async fn new(stores: &str, from: &str, rate: u32, users: u64) -> Self {
        let stage = Stage::new(stores, from, users).await;
        let (settings, gateway) = stage.place("paced").await;
        let site = Site::new(&settings);
        let (from, began) = (from.parse().unwrap(), Instant::now());
        let mut paced = Self { gateway, stage, site, running: None, from, rate, began };
        paced.start().await;
        paced
    }

    /// What its clock shows.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.from + self.began.elapsed() * self.rate
    }

    /// Kills it and starts it again; its clock goes on.
    pub(super) async fn killed(&mut self) {
        self.running.take().expect("it runs").kill().await;
        self.start().await;
    }

    /// Every number that was answered as stored is held, and nothing else is.
    pub(super) async fn agrees(mut self, recount: &Recount) {
        agree(&self.gateway, recount).await;
        self.stage.broker.well = true;
    }

    async fn start(&mut self) {
        let (shift, rate) = (shift_to(&self.now().to_rfc3339()), self.rate.to_string());
        let running = self.site.spawn_daemon(&["ingest", "run", "--clock-rate", &rate], &shift);
        self.running = Some(running.ready().await);
    }
}

async fn agree(gateway: &Gateway, recount: &Recount) {
    let differing = differing(gateway, recount).await;
    let first = &differing[..differing.len().min(5)];
    assert!(differing.is_empty(), "{} user-days differ: {first:?}", differing.len());
}

/// A user-day whose number is not that of the recount.
#[derive(Debug)]
#[allow(dead_code, reason = "shown where a test fails")]
pub(super) struct Differing {
    pub(super) uid: u64,
    pub(super) day: chrono::NaiveDate,
    pub(super) counted: u32,
    pub(super) held: Option<u32>,
}

/// The user-days whose number is not that of the recount.
pub(super) async fn differing(gateway: &Gateway, recount: &Recount) -> Vec<Differing> {
    let mut differing = Vec::new();
    for (uid, day, counted) in recount.numbers() {
        let held = gateway.steps(uid, day).await;
        if held != Some(counted) {
            differing.push(Differing { uid, day, counted, held });
        }
    }
    differing
}

fn person(uid: u64) -> Person {
    Person::new(uid, ZONES[usize::try_from(uid).unwrap() % ZONES.len()].0).without_steps().on(&[])
}
