//! One night, and again and again within it the process is killed with no time to put anything away.

mod retries;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use rig::{Answer, Chance, Person, Receiver, Reception, Running, Site, from_environment, shift_to};
use serde_json::Value;

use crate::{DAY, quick};

const KILLS: usize = 100;
const USERS: u64 = 20_000;
/// `chunk` x `batches_at_once` of the settings here.
const IN_FLIGHT: usize = 20 * 2;
/// The longest time from a start to its kill, in milliseconds; the start itself takes a part of it.
const LONGEST: u64 = 700;

/// The receiver is willing. Each start pushes to a path of its own, so that a repeated push is known for the kill that
/// caused it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_kills_in_one_night_lose_nothing_and_repeat_little() {
    let kills = Kills::new(KILLS, USERS, |_| Answer::status(200)).await;
    let people: Vec<_> = (1..=USERS).map(person).collect();
    let last = kills.happen(&people).await;
    let due = count(&people, |p| p.consent);
    let shown = kills.close(last, due).await;

    let silent = count(&people, |p| p.consent && p.steps == 0);
    assert_eq!(
        (&shown["delivered"], &shown["suppressed"]),
        (&(due - silent).into(), &silent.into()),
        "{shown}"
    );
    for term in ["expired", "missed", "aborted", "rejected", "dead", "uncertain"] {
        assert_eq!(shown[term], 0, "{term} in {shown}");
    }

    // the receiver's view: everybody the ledger calls delivered, nobody else, always under the same identity
    let receptions = kills.receiver.receptions();
    let came: BTreeSet<_> = receptions.iter().map(|r| r.uid).collect();
    let wanted: BTreeSet<_> = people.iter().filter(|p| p.consent && p.steps > 0).map(|p| p.uid).collect();
    assert_eq!(came.difference(&wanted).next(), None, "pushed to somebody who is not due");
    assert_eq!(wanted.difference(&came).next(), None, "called delivered and never received");
    assert!(receptions.iter().all(|r| r.identity == format!("nightly.{DAY}.{}", r.uid)));
    assert!(receptions.iter().all(|r| r.steps == u64::from(person(r.uid).steps)));

    let repeats = repeats_by_kill(&receptions);
    let (total, most) = (repeats.values().sum::<usize>(), repeats.values().max().copied().unwrap_or(0));
    println!("{} pushes came, {total} of them repeats, at most {most} by one kill", receptions.len());
    assert!(total > 0, "no kill hit a push in flight: the test shows little");
    assert!(most <= IN_FLIGHT, "a kill repeated {most} pushes, above chunk x batches_at_once: {repeats:?}");
    let repeated = receptions.iter().filter(|r| r.nth > 1).map(|r| r.uid).collect::<BTreeSet<_>>().len();
    let duplicates = usize::try_from(shown["duplicates"].as_u64().unwrap()).unwrap();
    assert!(duplicates >= repeated, "{repeated} users got it twice, the ledger knows of {duplicates}");
    assert!(duplicates <= KILLS * IN_FLIGHT, "{duplicates} duplicates");
}

/// Some without steps, some who never opted in.
fn person(uid: u64) -> Person {
    let person = Person::new(uid, if uid.is_multiple_of(2) { "Asia/Tokyo" } else { "Asia/Seoul" });
    match uid % 50 {
        3 => person.opted_out(),
        7 | 27 => person.without_steps(),
        _ => person,
    }
}

fn count(people: &[Person], wanted: impl Fn(&Person) -> bool) -> u64 {
    u64::try_from(people.iter().filter(|p| wanted(p)).count()).unwrap()
}

/// Repeated pushes by the start in which the same push was made before. That start was killed; a push repeated within
/// one start has no kill for an excuse.
fn repeats_by_kill(receptions: &[Reception]) -> BTreeMap<usize, usize> {
    let mut starts: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for reception in receptions {
        let start = reception.path.rsplit('/').next().unwrap().parse().unwrap();
        starts.entry(reception.uid).or_default().push(start);
    }
    let mut repeats = BTreeMap::new();
    for (uid, mut starts) in starts {
        starts.sort_unstable();
        for pair in starts.windows(2) {
            assert_ne!(pair[0], pair[1], "user {uid} got two pushes from one start, {starts:?}");
            *repeats.entry(pair[0]).or_default() += 1;
        }
    }
    repeats
}

/// A night that is killed so often.
struct Kills {
    kills: usize,
    receiver: Receiver,
    site: Site,
    /// The start that is on.
    start: Arc<AtomicUsize>,
}

impl Kills {
    /// The receiver answers as `judge` says, and slows down where the night would be over before the kills are.
    async fn new(
        kills: usize,
        users: u64,
        judge: impl Fn(&Reception) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let start = Arc::new(AtomicUsize::new(0));
        let (on, came, users) = (Arc::clone(&start), AtomicUsize::new(0), usize::try_from(users).unwrap());
        let receiver = Receiver::start(move |push| {
            let start = on.load(Ordering::Relaxed);
            let share = users * (start + 1) / (kills + kills / 5);
            let ahead = start < kills && came.fetch_add(1, Ordering::Relaxed) > share;
            judge(push).late(Duration::from_millis(if ahead { 400 } else { 4 }))
        });
        Self { kills, receiver: receiver.await, site: Site::new(""), start }
    }

    fn configure(&self, start: usize) {
        self.start.store(start, Ordering::Relaxed);
        self.site
            .configure(&(quick("[\"hook\"]", 5) + &self.receiver.channel("hook", &format!("start/{start}"))));
    }

    /// Kills the program so often, at random points, and answers the last start.
    async fn happen(&self, people: &[Person]) -> Running {
        let millis = || SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis().to_string();
        let seed = from_environment("STEPCAST_TEST_SEED").unwrap_or_else(millis);
        println!("STEPCAST_TEST_SEED={seed}");
        let mut chance = Chance::new(seed.parse().unwrap());
        self.configure(0);
        self.site.settle(people, DAY).await;
        // ahead of the hour, so that the first kills may hit the seal
        let shift = shift_to("2026-06-07T12:59:57Z");
        for kill in 0..self.kills {
            self.configure(kill);
            let mut running = self.site.spawn(&shift);
            tokio::time::sleep(Duration::from_millis(chance.below(LONGEST))).await;
            assert_eq!(running.ended(), None, "start {kill} ended by itself:\n{}", running.log());
            running.kill().await;
        }
        self.configure(self.kills);
        self.site.spawn(&shift).ready().await
    }

    /// Waits until the night closes, in the ledger and in the queue, and answers its sums as they are counted again.
    async fn close(&self, last: Running, due: u64) -> Value {
        let before = self.receiver.count();
        last.closed("nightly", DAY, due).await;
        last.drained().await;
        assert!(self.receiver.count() > before, "the night was over before the kills: they hit nothing");
        assert_eq!(last.stop().await.code(), Some(0));
        let args = ["night", "show", "--campaign", "nightly", "--day", DAY, "--recount", "--json"];
        let shown = self.site.command(&args).await.expect(0).json();
        assert_eq!(shown["recount"]["agrees"], true, "{shown}");
        assert_eq!(
            (&shown["due"], &shown["open"], &shown["unknown"]),
            (&due.into(), &0.into(), &0.into()),
            "{shown}"
        );
        let letters = self.site.command(&["dead", "list", "--json"]).await.expect(0).json();
        assert_eq!(letters["dead"].as_array().map(Vec::len), Some(0), "{letters}");
        shown
    }
}
