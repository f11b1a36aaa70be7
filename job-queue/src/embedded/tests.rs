//! What only this engine promises: its limits, and agreement of file and memory. The rest is in `tests/contract`.

use std::{future::ready, path::Path};

use chrono::DateTime;
use domain::{BatchId, Shard, Uid};
use plumbing::FileError;
use tempfile::TempDir;
use tokio::task::JoinSet;

use super::*;
use crate::encoding;
use crate::{BatchEntry, BatchZone, DeadReason, Delivery};

fn channel() -> ChannelName {
    "stub".parse().unwrap()
}

fn batch(id: u128) -> Batch {
    let instant = DateTime::from_timestamp(1_780_862_400, 0).unwrap();
    Batch {
        id: BatchId(id),
        campaign: "nightly".parse().unwrap(),
        day: "20260607".parse().unwrap(),
        shard: Shard(0),
        instant,
        slot: 0,
        channel: channel(),
        attempt: 1,
        not_before: None,
        zones: vec![BatchZone { zone: "UTC".parse().unwrap(), deadline: instant }],
        entries: vec![BatchEntry { uid: Uid(1), position: 0, zone: 0 }],
    }
}

fn open(path: &Path, step: Duration, limits: Limits) -> Result<Arc<EmbeddedQueue>, FileError> {
    let file = Arc::new(File::open(path)?);
    Ok(EmbeddedQueue::open(file, Ladder::new(vec![step]).unwrap(), limits).unwrap())
}

fn fresh(limits: Limits) -> (TempDir, Arc<EmbeddedQueue>) {
    let folder = tempfile::tempdir().unwrap();
    let queue = open(&folder.path().join("data"), Duration::from_hours(1), limits).unwrap();
    (folder, queue)
}

async fn next(consumer: &mut Box<dyn Consumer>) -> Delivery {
    tokio::time::timeout(Duration::from_secs(60), consumer.next()).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_full_queue_takes_nothing_of_what_is_too_much() {
    let (_folder, queue) = fresh(Limits { batches: 3, dead: 1 });
    queue.publish(&[batch(1)]).await.unwrap();
    let end = queue.publish(&[batch(2), batch(3), batch(4)]).await;
    assert!(matches!(end, Err(StoreError::Full { what: "the job queue", limit: 3 })), "{end:?}");
    assert_eq!(queue.depth(&channel()).await.unwrap().ready, 1);
    queue.delay(&batch(2), Duration::ZERO).await.unwrap();
    queue.publish(&[batch(3)]).await.unwrap();
    assert!(matches!(queue.delay(&batch(4), Duration::ZERO).await, Err(StoreError::Full { .. })));
    let depth = queue.depth(&channel()).await.unwrap();
    assert_eq!((depth.ready, depth.delayed, depth.users), (2, 1, Some(3)));

    let mut consumer = queue.consume(&channel(), 1).await.unwrap();
    next(&mut consumer).await.acker.ack().await.unwrap();
    queue.publish(&[batch(4)]).await.unwrap();
}

#[tokio::test]
async fn where_dead_letters_are_full_the_oldest_gives_way() {
    let (_folder, queue) = fresh(Limits { batches: 1, dead: 2 });
    let letter = |n: u8| {
        let at = DateTime::UNIX_EPOCH;
        DeadLetter {
            detail: "x".repeat(501),
            ..DeadLetter::new(channel(), DeadReason::Attempts, "", at, vec![n])
        }
    };
    for n in 0..3 {
        queue.bury(letter(n)).await.unwrap();
    }
    assert_eq!(queue.depth(&channel()).await.unwrap().dead, 2);
    let kept = queue.dead(None, 5).await.unwrap();
    assert_eq!(
        kept.iter().map(|(_, l)| (l.bytes[0], l.detail.len())).collect::<Vec<_>>(),
        [(1, 500), (2, 500)]
    );
    assert_eq!(queue.dead(Some(DeadId(u64::MAX)), 5).await.unwrap(), []);
}

#[tokio::test]
async fn many_old_dead_letters_go_and_their_ids_do_not_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let queue = open(&path, Duration::from_hours(1), Limits::default()).unwrap();
    let at = |second: i64| DateTime::from_timestamp(second, 0).unwrap();
    let letter = |at| DeadLetter::new(channel(), DeadReason::Unworkable, "", at, vec![]);
    // one from a clock that was wrong holds up nobody
    queue.bury(letter(at(9_000_000))).await.unwrap();
    let mut burials = JoinSet::new();
    for n in 0..2_500 {
        let (queue, letter) = (Arc::clone(&queue), letter(at(n)));
        burials.spawn(async move { queue.bury(letter).await });
    }
    assert!(burials.join_all().await.iter().all(Result::is_ok));
    assert_eq!(queue.forget_dead(at(2_400)).await.unwrap(), 2_400);
    assert_eq!(queue.depth(&channel()).await.unwrap().dead, 101);
    assert_eq!(queue.forget_dead(at(2_400)).await.unwrap(), 0);
    let last = queue.dead(None, 1_000).await.unwrap().last().unwrap().0;
    assert_eq!(queue.forget_dead(at(10_000_000)).await.unwrap(), 101);
    assert_eq!(queue.dead(None, 5).await.unwrap(), []);
    queue.bury(letter(at(0))).await.unwrap();
    assert!(queue.dead(None, 5).await.unwrap()[0].0 > last, "an id names one letter for ever");
    drop(queue);
    let queue = open(&path, Duration::from_hours(1), Limits::default()).unwrap();
    assert_eq!(queue.depth(&channel()).await.unwrap().dead, 1);
}

#[tokio::test]
async fn what_no_consumer_could_read_is_not_published() {
    let (_folder, queue) = fresh(Limits::default());
    let nobody = Batch { entries: vec![], ..batch(2) };
    for end in [queue.publish(&[batch(1), nobody.clone()]).await, queue.delay(&nobody, Duration::ZERO).await]
    {
        let error = end.unwrap_err().to_string();
        assert!(error.contains(&nobody.id.to_string()) && error.contains("0 users"), "{error}");
    }
    let long = vec![0; (16 << 20) + 1];
    assert!(matches!(queue.publish_raw(&channel(), long).await, Err(StoreError::Full { .. })));
    assert_eq!(queue.depth(&channel()).await.unwrap(), EMPTY);
}

#[tokio::test]
async fn a_publisher_that_stops_waiting_leaves_nothing_half_known() {
    let (_folder, queue) = fresh(Limits::default());
    let mut consumer = queue.consume(&channel(), 1).await.unwrap();
    tokio::select! {
        biased;
        _ = queue.publish(&[]) => {}
        () = ready(()) => panic!("nothing to publish needs no wait"),
    }
    let one = [batch(1)];
    tokio::select! {
        biased;
        _ = queue.publish(&one) => panic!("a write takes longer than one poll"),
        () = ready(()) => {}
    }
    let delivery = next(&mut consumer).await;
    tokio::select! {
        biased;
        _ = delivery.acker.ack() => panic!("a write takes longer than one poll"),
        () = ready(()) => {}
    }
    // there is room for the next one as soon as the acknowledgement is through
    queue.publish(&[batch(2)]).await.unwrap();
    let second = next(&mut consumer).await;
    assert_eq!(encoding::decode(&second.bytes).unwrap().id, BatchId(2));
    let depth = queue.depth(&channel()).await.unwrap();
    assert_eq!((depth.ready, depth.unacked, depth.users), (0, Some(1), Some(1)));
}

#[tokio::test]
async fn no_wait_outlasts_the_ladder_whatever_the_clock_did() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let queue = open(&path, Duration::from_hours(24), Limits::default()).unwrap();
    queue.delay(&batch(1), Duration::ZERO).await.unwrap();
    drop(queue);
    let queue = loop {
        match open(&path, Duration::from_millis(20), Limits::default()) {
            Ok(queue) => break queue,
            Err(FileError::Locked(_)) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    };
    let mut consumer = queue.consume(&channel(), 1).await.unwrap();
    assert!(next(&mut consumer).await.redelivered);
}

#[tokio::test]
async fn there_are_not_endlessly_many_channels() {
    let (_folder, queue) = fresh(Limits::default());
    for n in 0..1_024 {
        queue.consume(&format!("c{n}").parse().unwrap(), 1).await.unwrap();
    }
    let end = queue.consume(&channel(), 1).await.err();
    assert!(matches!(end, Some(StoreError::Full { what: "the list of channels", .. })), "{end:?}");
    assert_eq!(queue.depth(&channel()).await.unwrap(), EMPTY);
}
