//! Stores that are away, batches that are too long, and a guard that is shut.

use std::{num::NonZeroU32, sync::Arc, sync::atomic::Ordering, time::Duration};

use job_queue::JobQueue;
use sender::{Consuming, Ended, channel::Quota};
use tokio_util::sync::CancellationToken;

use crate::rig::{Provider, Rig, settings, stub, user};

/// Outcomes are kept for a ledger that is away, and a step whose answer got lost is the same step: nobody is pushed to again.
#[tokio::test]
async fn outcomes_are_kept_while_the_ledger_is_away() {
    for lost in [false, true] {
        let provider = Provider::new(|_, _| Ok(()));
        let rig = Rig::new(&provider, settings(), &Quota::default()).await;
        let batch = rig.sealed((1..=30).map(user).collect(), |_| 5_000).await;
        rig.ledger.lost.store(lost, Ordering::SeqCst);
        rig.ledger.away.store(3, Ordering::SeqCst);
        assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
        assert_eq!(rig.ledger.away.load(Ordering::SeqCst), 0);
        let sums = rig.sums().await;
        assert_eq!((sums.delivered, sums.duplicates, provider.count()), (30, 0, 30), "{lost}");
    }
}

/// At five a second and two batches at once a batch of 100 would be held for long: its end goes back into the queue.
#[tokio::test]
async fn a_batch_that_is_too_long_is_split() {
    let provider = Provider::new(|_, _| Ok(()));
    let quota = Quota { per_second: NonZeroU32::new(5), ..Quota::default() };
    let rig = Rig::new(&provider, settings(), &quota).await;
    let batch = rig.sealed((200..300).map(user).collect(), |_| 5_000).await;
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Delayed);
    let depth = rig.raw.depth(&stub()).await.unwrap();
    assert_eq!((depth.ready + depth.delayed, depth.users), (2, Some(100)));
    // it comes again, as after a kill: the same end has the same name, and nobody is in the way of anybody
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Delayed);
    assert_eq!(rig.sums().await.open, 100 - u64::try_from(provider.count()).unwrap());
    let claims = rig.parts.ledger.claims(&rig.key(), &(0..100).collect::<Vec<_>>()).await.unwrap();
    assert!(claims.iter().all(|held| !held.claim.maybe()));
}

/// While the guard is shut nothing is consumed or pushed; when it opens the work goes on.
#[tokio::test]
async fn a_shut_guard_stops_everything_until_it_opens() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=20).map(user).collect(), |_| 5_000).await;
    rig.parts.guard.shut("the store evicts");
    assert_eq!(rig.parts.guard.why().as_deref(), Some("the store evicts"));
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Delayed);
    rig.raw.publish(std::slice::from_ref(&batch)).await.unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(sender::run(Arc::clone(&rig.parts), stop.clone()));
    consuming(&rig, Consuming::Resting).await;
    assert_eq!((provider.count(), rig.raw.depth(&stub()).await.unwrap().unacked), (0, Some(0)));
    rig.parts.guard.open();
    consuming(&rig, Consuming::Attached).await;
    until(async || rig.sums().await.delivered == 20).await;
    stop.cancel();
    running.await.unwrap();
    assert_eq!(provider.count(), 20);
}

/// Channels with a quota wait for the ledger's word on who else sends; alone, a sender has all of it.
#[tokio::test]
async fn a_sender_alone_has_the_whole_quota_once_it_is_announced() {
    let provider = Provider::new(|_, _| Ok(()));
    let quota = Quota { in_flight: NonZeroU32::new(3), ..Quota::default() };
    let rig = Rig::new(&provider, settings(), &quota).await;
    let batch = rig.sealed((1..=20).map(user).collect(), |_| 5_000).await;
    rig.raw.publish(std::slice::from_ref(&batch)).await.unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(sender::run(Arc::clone(&rig.parts), stop.clone()));
    consuming(&rig, Consuming::Attached).await;
    until(async || rig.sums().await.delivered == 20).await;
    stop.cancel();
    running.await.unwrap();
    assert_eq!((provider.count(), rig.sums().await.duplicates), (20, 0));
}

async fn consuming(rig: &Rig, wanted: Consuming) {
    until(async || rig.parts.metrics.consumers().get(&stub()) == Some(&wanted)).await;
}

pub(crate) async fn until(done: impl AsyncFn() -> bool) {
    let waiting = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(10));
        while !done().await {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.unwrap();
}
