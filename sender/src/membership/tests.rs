//! Senders that come, go, die and are cut off from the ledger, in stepped time: in no second more than the quota.

use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    sync::{Arc, Mutex},
};

use night_ledger::Owner;
use proptest::prelude::*;
use tokio::time::sleep;

use super::*;
use crate::channel::Quota;

/// What the ledger knows: until when each is alive.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<BTreeMap<u64, Instant>>>);

impl Ledger {
    fn members(&self, owner: Owner) -> Vec<Owner> {
        let mut all = self.0.lock().unwrap();
        all.retain(|_, until| *until > Instant::now());
        all.insert(owner.0, Instant::now() + TERM);
        all.keys().copied().map(Owner).collect()
    }
}

/// A part of a sender's life, in tenths of a second.
#[derive(Clone, Copy, Debug)]
enum Part {
    Up(u64),
    /// Alive and pushing as far as it has leave, without a word from the ledger.
    CutOff(u64),
    /// Gone, after a leave (`true`) or at a blow.
    Down(u64, bool),
}

/// The longest push; every fourth is shorter.
const LONGEST: Duration = Duration::from_secs(25);

/// When each push began and ended, as the provider sees it.
type Pushes = Arc<Mutex<Vec<(Duration, Duration)>>>;

async fn live(number: u64, parts: Vec<Part>, quota: Quota, ledger: Ledger, pushes: Pushes, start: Instant) {
    let tenths = |n: u64| Duration::from_millis(n * 100);
    let mut process: Option<(Arc<Limits>, Views, tokio::task::JoinHandle<()>)> = None;
    for (life, part) in parts.into_iter().enumerate() {
        let (until, cut_off) = match part {
            Part::Up(n) => (Instant::now() + tenths(n), false),
            Part::CutOff(n) => (Instant::now() + tenths(n), true),
            Part::Down(n, left) => {
                if let Some((.., task)) = process.take() {
                    task.abort();
                    if left {
                        ledger.0.lock().unwrap().retain(|owner, _| owner % 10 != number);
                    }
                }
                sleep(tenths(n)).await;
                continue;
            }
        };
        let (limits, views, _) = process.get_or_insert_with(|| {
            // a new process has another number
            let owner = Owner(u64::try_from(life).unwrap() * 10 + number);
            let limits = Arc::new(Limits::new(&quota, 100));
            limits.rest();
            let task = tokio::spawn(push(Arc::clone(&limits), Arc::clone(&pushes), start));
            (limits, Views::new(owner, TERM, Duration::from_secs(60)), task)
        });
        let owner = views.owner();
        while Instant::now() < until {
            let asked = Instant::now();
            // the request and its answer take their time
            sleep(Duration::from_millis(20)).await;
            if !cut_off {
                let live = ledger.members(owner);
                sleep(Duration::from_millis(20)).await;
                views.answered(asked, Instant::now(), live);
            }
            hand_out(limits, LONGEST, views);
            sleep_until((asked + BEAT).min(until).max(Instant::now())).await;
        }
    }
    if let Some((.., task)) = process {
        task.abort();
    }
}

async fn push(limits: Arc<Limits>, pushes: Pushes, start: Instant) {
    loop {
        match limits.acquire(Duration::from_secs(1)).await {
            Ok(permit) => {
                let began = start.elapsed();
                // the same lengths in every run
                let takes = if (began.as_millis() / 7).is_multiple_of(4) { LONGEST / 5 } else { LONGEST };
                // who is killed has sent it all the same
                pushes.lock().unwrap().push((began, began + takes));
                if limits.quota().in_flight.is_some() {
                    tokio::spawn(async move {
                        sleep(takes).await;
                        drop(permit);
                    });
                }
            }
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// All pushes of these lives, as they came.
fn pushes(lives: Vec<Vec<Part>>, quota: &Quota) -> Vec<(Duration, Duration)> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (ledger, pushes) = (Ledger::default(), Pushes::default());
        let start = Instant::now();
        let lives = (1..).zip(lives).map(|(number, parts)| {
            live(number, parts, quota.clone(), ledger.clone(), Arc::clone(&pushes), start)
        });
        futures_util::future::join_all(lives).await;
        let mut all = pushes.lock().unwrap().clone();
        all.sort();
        all
    })
}

/// The most pushes any window saw, wherever it begins.
fn most_in(window: Duration, sorted: &[(Duration, Duration)]) -> usize {
    let counts = sorted
        .iter()
        .enumerate()
        .map(|(i, (first, _))| sorted.partition_point(|p| p.0 < *first + window) - i);
    counts.max().unwrap_or(0)
}

/// The most pushes that were in flight at once.
fn most_at_once(sorted: &[(Duration, Duration)]) -> usize {
    let counts =
        sorted.iter().enumerate().map(|(i, (at, _))| sorted[..=i].iter().filter(|(_, end)| end > at).count());
    counts.max().unwrap_or(0)
}

#[test]
fn three_senders_that_come_and_go_stay_below_the_quota_and_use_it() {
    let quota = Quota { per_second: NonZeroU32::new(60), ..Quota::default() };
    let lives = vec![
        vec![Part::Up(1_200)],
        vec![Part::Down(200, false), Part::Up(300), Part::Down(700, true)],
        vec![Part::Down(250, false), Part::Up(300), Part::Down(100, false), Part::Up(550)],
    ];
    let all = pushes(lives, &quota);
    assert!(most_in(Duration::from_secs(1), &all) <= 60);
    let during = |from: u64, to: u64| {
        let within = |p: &&(Duration, Duration)| (from..to).contains(&p.0.as_secs());
        all.iter().filter(within).count() as f64 / (to - from) as f64
    };
    assert!(during(1, 20) > 57.0, "alone, it has all of it: {}", during(1, 20));
    assert!(during(40, 50) > 50.0, "three of them together: {}", during(40, 50));
    assert!(during(85, 115) > 55.0, "two of them: {}", during(85, 115));
}

#[test]
fn three_senders_that_come_and_go_have_no_more_in_flight_than_the_quota_and_use_it() {
    let quota = Quota { in_flight: NonZeroU32::new(30), ..Quota::default() };
    let lives = vec![
        vec![Part::Up(700), Part::CutOff(120), Part::Up(800)],
        vec![Part::Down(400, false), Part::Up(400), Part::Down(820, true)],
        vec![Part::Down(450, false), Part::Up(300), Part::Down(100, false), Part::Up(770)],
    ];
    let all = pushes(lives, &quota);
    assert!(most_at_once(&all) <= 30, "{}", most_at_once(&all));
    let during = |from: u64, to: u64| {
        let time = |p: &(Duration, Duration)| {
            let (began, end) = (p.0.as_secs_f64().max(from as f64), p.1.as_secs_f64().min(to as f64));
            (end - began).max(0.0)
        };
        all.iter().map(time).sum::<f64>() / (to - from) as f64
    };
    assert!(during(26, 40) > 25.0, "alone, it has all of it: {}", during(26, 40));
    assert!(during(135, 155) > 24.0, "two of them: {}", during(135, 155));
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        3 => (10u64..250).prop_map(Part::Up),
        1 => (10u64..120).prop_map(Part::CutOff),
        1 => (1u64..120, any::<bool>()).prop_map(|(n, left)| Part::Down(n, left)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_window_sees_more_whatever_becomes_of_the_senders(
        lives in proptest::collection::vec(proptest::collection::vec(part(), 2..7), 3..5),
        per_second in 2u32..40,
        per_minute in proptest::option::of(10u32..300),
        in_flight in proptest::option::of(2u32..60),
    ) {
        let [per_minute_, in_flight_] = [per_minute, in_flight].map(|limit| limit.and_then(NonZeroU32::new));
        let quota = Quota { per_second: NonZeroU32::new(per_second), per_minute: per_minute_, in_flight: in_flight_ };
        let all = pushes(lives, &quota);
        prop_assert!(most_in(Duration::from_secs(1), &all) <= usize::try_from(per_second).unwrap());
        if let Some(per_minute) = per_minute {
            prop_assert!(most_in(Duration::from_secs(60), &all) <= usize::try_from(per_minute).unwrap());
        }
        if let Some(in_flight) = in_flight {
            prop_assert!(most_at_once(&all) <= usize::try_from(in_flight).unwrap());
        }
    }
}
