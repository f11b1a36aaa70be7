use std::{collections::BTreeSet, sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta};
use domain::{BatchId, ChannelName, Shard, Uid};
use job_queue::{Batch, BatchEntry, BatchZone, Consumer, Delivery, Depth, JobQueue, encoding};

/// The steps of the ladder that an engine is to have.
pub(crate) const STEPS: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_millis(60), Duration::from_secs(600)];

/// An engine with nothing in it.
#[async_trait]
pub(crate) trait Engine: Send + Sync {
    fn queue(&self) -> Arc<dyn JobQueue>;

    /// Puts bytes into a channel's queue as they are.
    async fn publish_raw(&self, channel: &ChannelName, bytes: &[u8]);

    /// Ends the engine and starts it again on what it kept. The caller has dropped all it had of it.
    async fn restart(&mut self);
}

/// The channel that most checks use.
pub(crate) fn channel() -> ChannelName {
    "stub".parse().unwrap()
}

/// A batch of three users, told apart by its id.
pub(crate) fn batch(channel: &ChannelName, id: u128) -> Batch {
    let instant = DateTime::from_timestamp(1_780_862_400, 0).unwrap();
    let zone = BatchZone { zone: "Europe/Berlin".parse().unwrap(), deadline: instant + TimeDelta::hours(2) };
    let entry = |n: u32| BatchEntry { uid: Uid(1_001 + u64::from(n) * 4), position: n, zone: 0 };
    Batch {
        id: BatchId(id),
        campaign: "nightly".parse().unwrap(),
        day: "20260607".parse().unwrap(),
        shard: Shard(1),
        instant,
        slot: 7,
        channel: channel.clone(),
        attempt: 1,
        not_before: None,
        zones: vec![zone],
        entries: (0..3).map(entry).collect(),
    }
}

pub(crate) fn batches(channel: &ChannelName, ids: std::ops::Range<u128>) -> Vec<Batch> {
    ids.map(|id| batch(channel, id)).collect()
}

/// The id of the batch that was delivered.
pub(crate) fn id(delivery: &Delivery) -> u128 {
    encoding::decode(&delivery.bytes).unwrap().id.0
}

/// The next delivery; it must come.
pub(crate) async fn next(consumer: &mut Box<dyn Consumer>) -> Delivery {
    soon(consumer.next()).await.unwrap()
}

/// Takes and acknowledges so many messages and gives their ids.
pub(crate) async fn drain(consumer: &mut Box<dyn Consumer>, count: usize) -> BTreeSet<u128> {
    let mut seen = BTreeSet::new();
    for _ in 0..count {
        let delivery = next(consumer).await;
        assert!(seen.insert(id(&delivery)), "delivered twice: {}", id(&delivery));
        delivery.acker.ack().await.unwrap();
    }
    seen
}

/// Waits until the channel's depth is as wished.
pub(crate) async fn until(
    queue: &dyn JobQueue,
    channel: &ChannelName,
    wished: impl Fn(&Depth) -> bool,
) -> Depth {
    soon(async {
        let mut tick = tokio::time::interval(Duration::from_millis(2));
        loop {
            tick.tick().await;
            let depth = queue.depth(channel).await.unwrap();
            if wished(&depth) {
                return depth;
            }
        }
    })
    .await
}

/// Whether an engine that can tell this figure tells this.
pub(crate) fn told(figure: Option<u64>, expected: u64) -> bool {
    figure.is_none_or(|told| told == expected)
}

/// Whether nothing is in a channel, as far as the engine can tell.
pub(crate) fn empty(depth: &Depth) -> bool {
    (depth.ready, depth.delayed, depth.dead, depth.oldest) == (0, 0, 0, None)
        && told(depth.unacked, 0)
        && told(depth.users, 0)
}

/// A limit for what must happen, far above what it takes.
pub(crate) async fn soon<F: Future>(what: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(120), what).await.unwrap()
}
