use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use chrono::{DateTime, TimeDelta, Utc};
use rig::{Chance, Gateway, Item, Recount, RedisServer, Turned, Walked};
use tokio::sync::Mutex;

use super::stage::{Stage, offset, stores};

const NOON: &str = "2026-06-07T12:00:00Z";
const USERS: u64 = 20_000;
const BATCH: usize = 500;
/// How long what it can bear is found out, and how long twice that is offered.
const PROBE: Duration = Duration::from_secs(8);
const MINUTE: Duration = Duration::from_secs(60);
/// Callers while it is probed.
const CALLERS: u64 = 8;
/// The most memory it may gain under twice the load, in MiB.
const MOST_GAINED: u64 = 96;

/// Batches are offered on their hour, twice as many as were answered before, whether or not those before are answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: tests/run --long"]
async fn long_twice_what_it_can_bear_for_a_minute_leaves_memory_flat_and_sums_equal() {
    let redis = RedisServer::start(&[]).await;
    let mut stage = Stage::new(&stores(&[redis.url()], false, "wal"), NOON, USERS).await;
    stage.start("a").await;
    let (gateway, recount) = (stage.gateway().clone(), Arc::<Mutex<Recount>>::default());
    let borne = probe(&gateway, &recount).await;
    println!("it bears {borne:.0} batches a second");
    let before = stage.fleet.running("a").memory();
    let (turned, lost, mut highest) =
        (Arc::<Mutex<Vec<Vec<Item>>>>::default(), Arc::<AtomicU64>::default(), before);
    let (begun, mut offered, mut tasks) = (Instant::now(), 0u64, tokio::task::JoinSet::new());
    let mut chance = Chance::new(7);
    while begun.elapsed() < MINUTE {
        let due = begun.elapsed().as_secs_f64() * borne * 2.0;
        if offered as f64 >= due {
            tokio::time::sleep(Duration::from_millis(2)).await;
            continue;
        }
        offered += 1;
        let items = batch(&mut chance, 1 << 40 | offered);
        let (gateway, recount) = (gateway.clone(), Arc::clone(&recount));
        let (turned, lost) = (Arc::clone(&turned), Arc::clone(&lost));
        tasks.spawn(async move {
            match gateway.post_once(&items).await {
                Ok(answers) => {
                    let mut recount = recount.lock().await;
                    items.iter().zip(&answers).for_each(|(item, answer)| recount.count(item, answer));
                }
                Err(Turned::Away(status, after)) => {
                    assert!(matches!(status, 429 | 503), "it was answered {status}");
                    assert!(after.is_some(), "a {status} without Retry-After");
                    turned.lock().await.push(items);
                }
                Err(Turned::Lost(error)) => {
                    println!("not answered: {error}");
                    lost.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        while tasks.try_join_next().is_some_and(|task| task.map(|()| true).unwrap()) {}
        if offered.is_multiple_of(64) {
            highest = highest.max(stage.fleet.running("a").memory());
        }
    }
    tasks.join_all().await;
    let (turned, lost) = (std::mem::take(&mut *turned.lock().await), lost.load(Ordering::Relaxed));
    let mib = |bytes: u64| bytes >> 20;
    println!(
        "{offered} batches offered, {} turned away, {lost} not answered; {} to {} MiB",
        turned.len(),
        mib(before),
        mib(highest)
    );
    assert!(!turned.is_empty(), "twice the load was no overload");
    assert_eq!(lost, 0, "every call has an answer");
    assert!(mib(highest - before) <= MOST_GAINED, "memory rose from {} to {} MiB", mib(before), mib(highest));
    // of a batch that was turned away while the store took too long, some may be stored: they come again
    for items in &turned {
        let answers = gateway.post(items).await;
        let mut recount = recount.lock().await;
        items.iter().zip(&answers).for_each(|(item, answer)| recount.count(item, answer));
    }
    stage.agrees(&*recount.lock().await).await;
}

/// Batches a second that it answers to callers who wait for their answers.
async fn probe(gateway: &Gateway, recount: &Arc<Mutex<Recount>>) -> f64 {
    let (begun, answered) = (Instant::now(), Arc::<AtomicU64>::default());
    let callers = (0..CALLERS).map(|number| {
        let (gateway, recount, answered) = (gateway.clone(), Arc::clone(recount), Arc::clone(&answered));
        tokio::spawn(async move {
            let (mut chance, mut made) = (Chance::new(number), 0);
            while begun.elapsed() < PROBE {
                made += 1;
                let items = batch(&mut chance, number << 32 | made);
                let answers = gateway.post(&items).await;
                answered.fetch_add(1, Ordering::Relaxed);
                let mut recount = recount.lock().await;
                items.iter().zip(&answers).for_each(|(item, answer)| recount.count(item, answer));
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.unwrap();
    }
    answered.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64()
}

/// Items of people drawn by lot; their ids are this batch's own.
fn batch(chance: &mut Chance, number: u64) -> Vec<Item> {
    let noon: DateTime<Utc> = NOON.parse().unwrap();
    let item = |place: usize| {
        let uid = 1 + chance.below(USERS);
        let at = (noon - TimeDelta::minutes(5)).with_timezone(&offset(uid));
        let steps = u32::try_from(chance.below(5)).unwrap();
        let id = number * u64::try_from(BATCH).unwrap() + u64::try_from(place).unwrap();
        Item { uid, at, source: "phone", walked: Walked::Steps(steps), id }
    };
    (0..BATCH).map(item).collect()
}
