//! A ledger that takes no checkpoints, lost its leases, knows more than the scheduler, or takes long to forget.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use domain::Shard;
use night_ledger::Raised;
use scheduler::Scheduler;

use crate::{
    DAILY,
    log::Log,
    rig::{Rig, at, campaign, user},
    shared::Shared,
    sorted,
};

const SHARDS: u32 = 2;

/// A night of 40 users in two shards, all at one second, sealed by a scheduler over a ledger with faults.
async fn sealed(lease: Duration) -> (Rig, Arc<Shared>, Scheduler) {
    let rig = Rig::new(campaign(DAILY, 0), SHARDS).await;
    rig.put((0..40).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    let shared = Arc::new(Shared::over(Arc::clone(&rig.ledger)));
    let mut scheduler = rig.beside(&shared, SHARDS, 1, lease);
    assert_eq!(scheduler.tick(at("2026-05-10T21:50:00Z")).await.unwrap().sealed, 40);
    (rig, shared, scheduler)
}

/// Ticks at that time until a tick is whole and has nothing left to publish.
async fn until_published(scheduler: &mut Scheduler, now: &str) {
    let began = Instant::now();
    loop {
        let end = scheduler.tick(at(now)).await;
        if end.as_ref().is_ok_and(|ticked| !ticked.publishing) {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{end:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_checkpoint_that_fails_repeats_no_batch() {
    let (rig, shared, mut scheduler) = sealed(Duration::from_secs(60)).await;
    shared.no_checkpoints.store(true, Ordering::SeqCst);
    for _ in 0..5 {
        scheduler.tick(at("2026-05-10T22:00:00Z")).await.unwrap_err();
    }
    let stub = "stub".parse().unwrap();
    assert_eq!(rig.queue.depth(&stub).await.unwrap().ready, 2, "one batch of each shard");
    shared.no_checkpoints.store(false, Ordering::SeqCst);
    until_published(&mut scheduler, "2026-05-10T22:00:01Z").await;
    assert_eq!(rig.queue.depth(&stub).await.unwrap().ready, 2);
    assert_eq!(scheduler.metrics().published.get(), 2);
    let progress = rig.ledger.seals(&rig.night("20260510"), Shard(0)).await.unwrap();
    assert_eq!(progress[0].1.batches, 1);
}

/// The leases begin again at epoch 1 while the night is held far above that: it is published all the same.
#[tokio::test]
async fn leases_that_were_lost_climb_above_what_the_night_holds() {
    let (rig, shared, mut scheduler) = sealed(Duration::from_secs(3)).await;
    const HELD: u64 = 10_000_000;
    let night = rig.night("20260510");
    for shard in [Shard(0), Shard(1)] {
        assert_eq!(rig.ledger.raise_epoch(&night, shard, HELD).await.unwrap(), Raised::Yes);
    }
    shared.lose_leases();
    let log = Log::start();
    until_published(&mut scheduler, "2026-05-10T22:00:00Z").await;
    assert_eq!(log.count("held under a higher epoch"), 2, "once for each shard");
    for shard in [Shard(0), Shard(1)] {
        let progress = rig.ledger.seals(&night, shard).await.unwrap();
        assert_eq!(progress[0].1.batches, 1, "{shard}");
    }
    let ready = rig.queue.depth(&"stub".parse().unwrap()).await.unwrap().ready;
    let mut batches = rig.take(ready).await;
    batches.sort_unstable_by_key(|batch| batch.shard);
    batches.dedup_by_key(|batch| batch.id);
    let uids = batches.iter().flat_map(|b| &b.entries).map(|e| e.uid.0).collect();
    assert_eq!(sorted(uids), (0..40).collect::<Vec<_>>());
}

/// A checkpoint has the connection that the leases need, and they are due: both go on, and no shard is lost.
#[tokio::test]
async fn leases_are_kept_beside_a_checkpoint_that_is_in_their_way() {
    let (rig, shared, mut scheduler) = sealed(Duration::from_secs(3)).await;
    shared.until_asked.store(true, Ordering::SeqCst);
    let ticked = scheduler.tick(at("2026-05-10T22:00:00Z")).await.unwrap();
    assert!(!shared.until_asked.load(Ordering::SeqCst), "a checkpoint was in the way");
    assert_eq!((ticked.published, ticked.publishing), (2, false));
    assert_eq!(shared.holders().values().sum::<usize>(), 2);
    for shard in [Shard(0), Shard(1)] {
        let progress = rig.ledger.seals(&rig.night("20260510"), shard).await.unwrap();
        assert_eq!(progress[0].1.batches, 1, "{shard}");
    }
}

/// Another scheduler published the night meanwhile: it has a grace, and is not counted as missed.
#[tokio::test]
async fn a_close_knows_what_another_published() {
    let (rig, _, mut scheduler) = sealed(Duration::from_secs(60)).await;
    let night = rig.night("20260510");
    for shard in [Shard(0), Shard(1)] {
        let key = rig.ledger.seals(&night, shard).await.unwrap().remove(0).0;
        assert_eq!(rig.ledger.checkpoint(&key, 9, 1).await.unwrap(), Raised::Yes);
    }
    scheduler.tick(at("2026-05-11T00:00:00Z")).await.unwrap();
    assert_eq!(rig.sums("20260510").await.open, 40, "the senders have a grace");
    let closed = scheduler.tick(at("2026-05-11T00:02:00Z")).await.unwrap().closed;
    assert_eq!((closed.missed, closed.never_worked), (0, 40));
}

/// What is old takes long to be forgotten: the night goes on, and it is not begun again meanwhile.
#[tokio::test]
async fn forgetting_is_in_nobodys_way() {
    let (rig, shared, mut scheduler) = sealed(Duration::from_secs(60)).await;
    let held = shared.forgetting.lock().await;
    let forgets = || shared.forgets.load(Ordering::SeqCst);
    scheduler.tick(at("2026-05-10T21:59:30Z")).await.unwrap();
    tokio::task::yield_now().await;
    assert_eq!(forgets(), 0, "a slot is due within a minute");
    let ticked = scheduler.tick(at("2026-05-10T22:00:00Z")).await.unwrap();
    assert_eq!((ticked.published, ticked.publishing), (2, false));
    let mut began = Instant::now();
    for now in ["2026-05-10T22:00:01Z", "2026-05-10T23:30:00Z"] {
        scheduler.tick(at(now)).await.unwrap();
        while forgets() < 1 {
            assert!(began.elapsed() < Duration::from_secs(20));
            tokio::task::yield_now().await;
        }
        assert_eq!(forgets(), 1, "one at a time");
    }
    drop(held);
    began = Instant::now();
    while forgets() < 2 {
        assert!(began.elapsed() < Duration::from_secs(20));
        scheduler.tick(at("2026-05-10T23:40:00Z")).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(rig.sums("20260510").await.due, 40);
}

/// A seal that is being written holds what a checkpoint waits for: both go on.
#[tokio::test]
async fn what_takes_long_goes_on_while_a_slot_is_published() {
    let rig = Rig::new(campaign(DAILY, 3_600), 1).await;
    let users = (0..40).map(|u| user(u, if u < 30 { "Asia/Kathmandu" } else { "Asia/Kolkata" }));
    rig.put(users, at("2026-05-10T12:00:00Z")).await;
    let shared = Arc::new(Shared::over(Arc::clone(&rig.ledger)));
    let mut scheduler = rig.beside(&shared, 1, 1, Duration::from_secs(60));
    assert_eq!(scheduler.tick(at("2026-05-10T16:10:00Z")).await.unwrap().sealed, 30);
    shared.until_checkpoint.store(true, Ordering::SeqCst);
    let tick = scheduler.tick(at("2026-05-10T16:25:00Z"));
    let ticked = tokio::time::timeout(Duration::from_secs(20), tick).await.unwrap().unwrap();
    assert_eq!(ticked.sealed, 10);
    assert!(ticked.published > 0, "{ticked:?}");
}
