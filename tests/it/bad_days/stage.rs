use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use rig::{Fleet, Person, Receiver, RedisServer, Role, until};
use serde_json::Value;

use super::{
    setting::Setting,
    shared_broker::{self, Held},
};
use crate::DAY;

/// The longest a night with a fault in it may take; far more than it does.
pub(super) const LONGEST: Duration = Duration::from_secs(120);
/// How soon after the end of a fault every daemon has to be ready again.
pub(super) const SOON: Duration = Duration::from_secs(30);

/// Servers, people and a receiver for one night, and the daemons that a test puts on.
pub(super) struct Stage {
    /// The broker.
    pub(super) broker: Held,
    /// The stores' server, where it is one.
    pub(super) redis: Option<RedisServer>,
    /// Where pushes go.
    pub(super) receiver: Receiver,
    /// The daemons.
    pub(super) fleet: Fleet,
    /// What they run with.
    pub(super) setting: Setting,
    /// Who is due, in number.
    pub(super) due: u64,
    /// Who of them has no steps.
    pub(super) silent: u64,
    /// How long the night may take.
    patience: Duration,
}

/// What is wanted beside the usual.
pub(super) struct Wanted {
    /// Users, in Tokyo and Seoul by halves.
    pub(super) users: u64,
    /// What their clocks show at the start.
    pub(super) at: &'static str,
    /// What a push takes.
    pub(super) pace: Duration,
    /// How long the night may take.
    pub(super) patience: Duration,
    /// Changes the settings.
    pub(super) change: fn(&mut Setting),
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            users: 3_000,
            at: "2026-06-07T12:59:57Z",
            pace: Duration::from_millis(40),
            patience: LONGEST,
            change: |_| (),
        }
    }
}

impl Stage {
    /// The usual: one Redis, the shared broker, the people imported, no daemon on.
    pub(super) async fn new(wanted: Wanted) -> Self {
        Self::over(wanted, shared_broker::shared().await).await
    }

    /// The same over this broker.
    pub(super) async fn over(wanted: Wanted, broker: Held) -> Self {
        let redis = RedisServer::start(&[]).await;
        let (stores, queue) = (vec![redis.url()], broker.url());
        Self::set(wanted, broker, Some(redis), stores, &queue).await
    }

    /// The same over these servers, however they are reached.
    pub(super) async fn set(
        wanted: Wanted,
        broker: Held,
        redis: Option<RedisServer>,
        stores: Vec<String>,
        queue: &str,
    ) -> Self {
        let receiver = Receiver::willing().await;
        receiver.pace(wanted.pace);
        let mut setting = Setting {
            stores,
            cluster: false,
            durability: "wal",
            queue: queue.to_owned(),
            prefix: fresh_prefix(),
            shards: 4,
            window: 3,
            chunk: 20,
            at_once: 2,
            receiver: receiver.url("in"),
            quota: "",
        };
        (wanted.change)(&mut setting);
        let fleet = Fleet::new(&setting.toml(), wanted.at);
        let people: Vec<_> = (1..=wanted.users).map(person).collect();
        fleet.settle(&people, DAY).await;
        let count = |wanted: fn(&Person) -> bool| people.iter().filter(|p| wanted(p)).count();
        let due = u64::try_from(count(|p| p.consent)).unwrap();
        let silent = u64::try_from(count(|p| p.consent && p.steps == 0)).unwrap();
        Self { broker, redis, receiver, fleet, setting, due, silent, patience: wanted.patience }
    }

    /// Starts so many schedulers and senders: "scheduler-a", "sender-a" and so on.
    pub(super) async fn cast(&mut self, schedulers: usize, senders: usize) {
        for name in ["sender-a", "sender-b", "sender-c"].into_iter().take(senders) {
            self.fleet.start(name, Role::Sender).await;
        }
        for name in ["scheduler-a", "scheduler-b", "scheduler-c"].into_iter().take(schedulers) {
            self.fleet.start(name, Role::Scheduler).await;
        }
    }

    /// The stores' server.
    pub(super) fn redis(&mut self) -> &mut RedisServer {
        self.redis.as_mut().expect("one server was wanted")
    }

    /// Waits until so many pushes came, and answers how many did.
    pub(super) async fn pushed(&self, at_least: usize) -> usize {
        until(&format!("{at_least} pushes"), LONGEST, async || {
            Some(self.receiver.count()).filter(|&count| count >= at_least)
        })
        .await
    }

    /// Waits until the night is sealed for everybody.
    pub(super) async fn sealed(&self) {
        until("the seal", LONGEST, async || {
            self.fleet.night("nightly", DAY).await.filter(|night| night["due"] == self.due)
        })
        .await;
    }

    /// Waits until no push has come for so long: what was in flight is through. Answers how many came.
    pub(super) async fn quiet(&self, for_so_long: Duration) -> usize {
        let (mut seen, mut since) = (self.receiver.count(), tokio::time::Instant::now());
        until("the pushes to cease", LONGEST, async || {
            let now = self.receiver.count();
            if now != seen {
                (seen, since) = (now, tokio::time::Instant::now());
            }
            (since.elapsed() >= for_so_long).then_some(now)
        })
        .await
    }

    /// The end of a night that nothing was lost of: everybody with steps is delivered. `most_repeats` is what was in flight at
    /// the faults.
    pub(super) async fn whole(self, most_repeats: usize) {
        let (due, silent) = (self.due, self.silent);
        let shown = self.proved(most_repeats).await;
        assert_eq!(
            (&shown["delivered"], &shown["suppressed"]),
            (&(due - silent).into(), &silent.into()),
            "{shown}"
        );
        for term in ["expired", "missed", "aborted", "rejected", "dead", "uncertain"] {
            assert_eq!(shown[term], 0, "{term} in {shown}");
        }
    }

    /// Waits until the night closes; then ledger, recount, queue and receipts have to agree, and every daemon to be well.
    /// Answers the sums.
    pub(super) async fn proved(mut self, most_repeats: usize) -> Value {
        self.closed().await;
        self.fleet.healthy(SOON).await;
        let (_, sender) =
            self.fleet.all().find(|(name, _)| name.starts_with("sender")).expect("a sender is on");
        sender.drained().await;
        let shown = self.shown().await;
        assert_eq!(shown["recount"]["agrees"], true, "{shown}");
        assert_eq!(
            (&shown["due"], &shown["open"], &shown["unknown"]),
            (&self.due.into(), &0.into(), &0.into()),
            "{shown}"
        );
        self.receipts_agree().await;
        self.repeats_are_few(most_repeats, &shown);
        self.broker.well = true;
        shown
    }

    /// Waits until everybody who is due has an end.
    pub(super) async fn closed(&self) -> Value {
        let mut last = Value::Null;
        let start = std::time::Instant::now();
        loop {
            if let Some(night) = self.fleet.night("nightly", DAY).await {
                if night["due"] == self.due && night["open"] == 0 {
                    return night;
                }
                last = night;
            }
            assert!(start.elapsed() < self.patience, "{} are due and not all have an end: {last}", self.due);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// `night show --recount`.
    pub(super) async fn shown(&self) -> Value {
        let args = ["night", "show", "--campaign", "nightly", "--day", DAY, "--recount", "--json"];
        self.fleet.command(&args).await.expect(0).json()
    }

    /// The dead letters.
    pub(super) async fn letters(&self) -> Vec<Value> {
        let list = self.fleet.command(&["dead", "list", "--limit", "1000", "--json"]).await.expect(0).json();
        list["dead"].as_array().expect("a list").clone()
    }

    /// Replays the dead letters of a reason, at a daemon: its clock is the night's, an operator command's is not.
    pub(super) async fn replay(&self, reason: &str) -> Value {
        let asked = serde_json::json!({ "reason": reason, "after": null, "limit": 1_000 });
        let (_, daemon) = self.fleet.all().next().expect("a daemon is on");
        let (status, answer) = daemon.post("/ops/v1/dead/replay", asked.to_string()).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }

    async fn receipts_agree(&self) {
        let receipts = self.fleet.file("receipts.ndjson", self.receiver.receipts());
        let args = ["night", "prove", "--campaign", "nightly", "--day", DAY, "--receipts", &receipts];
        let proof = self.fleet.command(&args).await.expect(0);
        println!("{}", proof.stdout.trim());
    }

    /// One identity a user, whatever happened, and no more repeats than there were pushes in flight.
    fn repeats_are_few(&self, most: usize, shown: &Value) {
        let receptions = self.receiver.receptions();
        assert!(receptions.iter().all(|r| r.identity == format!("nightly.{DAY}.{}", r.uid)));
        assert!(receptions.iter().all(|r| r.steps == u64::from(person(r.uid).steps)));
        let repeats = receptions.iter().filter(|r| r.nth > 1).count();
        let repeated: BTreeSet<_> = receptions.iter().filter(|r| r.nth > 1).map(|r| r.uid).collect();
        println!("{} pushes came, {repeats} of them repeats, of {most} that may be", receptions.len());
        assert!(repeats <= most, "{repeats} repeats, and at most {most} were in flight: {repeated:?}");
        let known = shown["duplicates"].as_u64().expect("a number");
        assert!(
            known >= u64::try_from(repeated.len()).unwrap(),
            "{} users got it twice: {shown}",
            repeated.len()
        );
    }
}

/// Some without steps, some who never opted in.
pub(super) fn person(uid: u64) -> Person {
    let person = Person::new(uid, if uid.is_multiple_of(2) { "Asia/Tokyo" } else { "Asia/Seoul" });
    match uid % 50 {
        3 => person.opted_out(),
        7 | 27 => person.without_steps(),
        _ => person,
    }
}

/// A name that no other test has.
fn fresh_prefix() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let nanos = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    format!("it{:x}-{}", nanos & 0xffff_ffff, NEXT.fetch_add(1, Ordering::Relaxed))
}
