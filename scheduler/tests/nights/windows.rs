//! Several groups of one seal on their way at a time, and the checkpoint beside them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use domain::{BatchId, Shard};
use scheduler::Scheduler;

use crate::{
    DAILY,
    rig::{Rig, at, campaign, user},
    shared::Shared,
    sorted,
    watched::Watched,
};

/// Batches on their way at once in [`Rig::beside`], which are all one seal's where there is one shard.
const AT_ONCE: usize = 256;
const USERS: u64 = 2_000;
/// When the whole window has passed.
const AFTER: &str = "2026-05-10T23:00:00Z";

/// A night of some 1,500 batches, nearly one a user, in one shard, sealed.
async fn sealed() -> (Rig, Arc<Watched>, Arc<Shared>, Scheduler) {
    let mut rig = Rig::new(campaign(DAILY, 3_600), 1).await;
    rig.put((0..USERS).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    let watched = Arc::new(Watched::over(Arc::clone(&rig.queue)));
    rig.queue = Arc::clone(&watched) as _;
    let shared = Arc::new(Shared::over(Arc::clone(&rig.ledger)));
    let mut scheduler = rig.beside(&shared, 1, 1, Duration::from_secs(60));
    assert_eq!(scheduler.tick(at("2026-05-10T21:50:00Z")).await.unwrap().sealed, USERS);
    (rig, watched, shared, scheduler)
}

async fn until_published(scheduler: &mut Scheduler) {
    let began = Instant::now();
    while scheduler.tick(at(AFTER)).await.unwrap().publishing {
        assert!(began.elapsed() < Duration::from_secs(20));
    }
}

/// How often each batch is in the queue, and the users of all.
async fn in_queue(rig: &Rig) -> (BTreeMap<BatchId, usize>, BTreeSet<u64>) {
    let ready = rig.queue.depth(&"stub".parse().unwrap()).await.unwrap().ready;
    let (mut times, mut users) = (BTreeMap::new(), BTreeSet::new());
    for batch in rig.take(ready).await {
        *times.entry(batch.id).or_default() += 1;
        users.extend(batch.entries.iter().map(|e| e.uid.0));
    }
    (times, users)
}

/// The checkpoint takes for ever: publishing goes on to its bound, and when it ends to the end.
#[tokio::test]
async fn a_slow_checkpoint_holds_nothing_up_within_a_bound() {
    let (rig, watched, shared, mut scheduler) = sealed().await;
    let held = shared.checkpointing.lock().await;
    let let_go = async {
        // nothing is begun when a go's time is over, which a slow machine may meet first
        let began = Instant::now();
        let confirmed = || watched.confirmed.load(Ordering::SeqCst);
        while confirmed() < 2 * AT_ONCE && began.elapsed() < Duration::from_secs(5) {
            tokio::task::yield_now().await;
        }
        assert!((1..=2 * AT_ONCE).contains(&confirmed()));
        drop(held);
    };
    let (ticked, ()) = tokio::join!(scheduler.tick(at(AFTER)), let_go);
    ticked.unwrap();
    until_published(&mut scheduler).await;
    let (times, users) = in_queue(&rig).await;
    assert_eq!(sorted(users.into_iter().collect()), (0..USERS).collect::<Vec<_>>());
    assert!(times.values().all(|&n| n == 1), "none twice");
    let progress = rig.ledger.seals(&rig.night("20260510"), Shard(0)).await.unwrap();
    assert_eq!(usize::try_from(progress[0].1.batches).unwrap(), times.len());
    let most = watched.most.load(Ordering::SeqCst);
    assert!(
        (AT_ONCE / 2 + 1..=AT_ONCE).contains(&most),
        "several groups at a time, within the bound: {most}"
    );
}

/// No checkpoint is taken: what is published and not recorded has a bound.
#[tokio::test]
async fn what_is_not_recorded_has_a_bound() {
    let (_rig, watched, shared, mut scheduler) = sealed().await;
    shared.no_checkpoints.store(true, Ordering::SeqCst);
    for _ in 0..5 {
        scheduler.tick(at(AFTER)).await.unwrap_err();
    }
    let confirmed = watched.confirmed.load(Ordering::SeqCst);
    assert!((1..=2 * AT_ONCE).contains(&confirmed), "{confirmed}");
}

/// A group that fails takes none before it along, and what is behind it is published again.
#[tokio::test]
async fn a_group_that_fails_loses_nothing() {
    let (rig, watched, _shared, mut scheduler) = sealed().await;
    let key = rig.ledger.seals(&rig.night("20260510"), Shard(0)).await.unwrap().remove(0).0;
    // in the second group
    *watched.fails.lock().unwrap() = Some(BatchId::root(&key, 200));
    scheduler.tick(at(AFTER)).await.unwrap_err();
    let recorded = rig.ledger.seals(&key.night, Shard(0)).await.unwrap()[0].1.batches;
    assert!(recorded >= 128, "the group before it: {recorded}");
    until_published(&mut scheduler).await;
    let (times, users) = in_queue(&rig).await;
    assert_eq!(users.len(), usize::try_from(USERS).unwrap());
    for index in 0..256 {
        assert_eq!(times.get(&BatchId::root(&key, index)), Some(&1), "{index}");
    }
    let again = times.values().filter(|&&n| n > 1).count();
    assert!(again <= AT_ONCE && times.values().all(|&n| n <= 2), "{again}");
    assert_eq!(scheduler.metrics().published.get(), times.len() as u64);
}

/// The queue is made ready a minute ahead, and not before.
#[tokio::test]
async fn the_queue_is_made_ready_before_the_hour() {
    let (_rig, watched, _shared, mut scheduler) = sealed().await;
    scheduler.tick(at("2026-05-10T21:58:59Z")).await.unwrap();
    tokio::task::yield_now().await;
    assert!(watched.ready.lock().unwrap().is_empty());
    scheduler.tick(at("2026-05-10T21:59:00Z")).await.unwrap();
    let began = Instant::now();
    while watched.ready.lock().unwrap().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(20));
        tokio::task::yield_now().await;
    }
    let ready = watched.ready.lock().unwrap().clone();
    assert!(ready.contains(&"stub".parse().unwrap()), "{ready:?}");
    assert_eq!(watched.confirmed.load(Ordering::SeqCst), 0);
}
