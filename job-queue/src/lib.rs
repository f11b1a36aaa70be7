//! Batches on their way from the scheduler to the senders: one queue and one delay ladder a channel, and dead letters.
//!
//! The port is cut for a broker: publish and wait for the confirm; act, record, then acknowledge. A delivery that is
//! not acknowledged when its consumer goes away is delivered again.

mod batch;
mod dead_letter;
mod embedded;
pub mod encoding;
mod feed;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod ladder;
mod rabbitmq;

use std::time::Duration;

use async_trait::async_trait;
pub use batch::{Batch, BatchEntry, BatchZone, MOST_UIDS};
pub use dead_letter::{DeadId, DeadLetter, DeadReason, MOST_DETAIL, UnknownReason};
use domain::{ChannelName, Instant};
pub use embedded::{EmbeddedQueue, Limits};
pub use feed::{EmbeddedFeed, Feed, FeedMessage, MOST_MESSAGE, MOST_POSTINGS, RabbitFeed, Subscription};
pub use ladder::{BadLadder, Ladder, MOST_STEPS};
pub use plumbing::{StoreError, amqp::AmqpSettings};
pub use rabbitmq::RabbitQueue;

/// The port of the queue.
#[async_trait]
pub trait JobQueue: Send + Sync {
    /// Puts batches into their channels' queues, in order; answers when all are confirmed. After an error any part of
    /// them may be in.
    async fn publish(&self, batches: &[Batch]) -> Result<(), StoreError>;

    /// Makes ready to publish to these channels, so that the first batches do not wait for connections and queues to be
    /// made. It need not be called, and promises nothing; what it had made ready stays so where it is given up on.
    async fn make_ready(&self, _channels: &[ChannelName]) -> Result<(), StoreError> {
        Ok(())
    }

    /// Puts a batch into its channel's ladder, on the step for a wait of `wait`; answers when it is confirmed.
    async fn delay(&self, batch: &Batch, wait: Duration) -> Result<(), StoreError>;

    /// A consumer of a channel's queue that holds at most `prefetch` unacknowledged deliveries.
    async fn consume(&self, channel: &ChannelName, prefetch: usize) -> Result<Box<dyn Consumer>, StoreError>;

    /// Puts a message among the dead letters; answers when it is confirmed. Where there is no room, the oldest give way.
    async fn bury(&self, letter: DeadLetter) -> Result<(), StoreError>;

    /// Up to `limit` dead letters, oldest first, those after `after`.
    async fn dead(
        &self,
        after: Option<DeadId>,
        limit: usize,
    ) -> Result<Vec<(DeadId, DeadLetter)>, StoreError>;

    /// Takes these letters off, for a replay or because they were looked at; answers how many were there.
    async fn take_dead(&self, ids: &[DeadId]) -> Result<u64, StoreError>;

    /// Forgets dead letters that were given up before `before`; answers how many.
    async fn forget_dead(&self, before: Instant) -> Result<u64, StoreError>;

    /// How full a channel's queue, ladder and dead letters are.
    async fn depth(&self, channel: &ChannelName) -> Result<Depth, StoreError>;

    /// Why nothing can be published at the moment, where the engine said so by itself: a broker that is short of memory
    /// or disk. It need not be asked for, so `None` is no promise.
    fn refusal(&self) -> Option<StoreError> {
        None
    }
}

/// Takes deliveries of one channel.
#[async_trait]
pub trait Consumer: Send {
    /// The next delivery; waits for one, and while `prefetch` are unacknowledged.
    async fn next(&mut self) -> Result<Delivery, StoreError>;
}

/// What a consumer got. Dropped without an acknowledgement, it is delivered again.
pub struct Delivery {
    /// The message's bytes, as published.
    pub bytes: Vec<u8>,
    /// Whether it may have been delivered before.
    pub redelivered: bool,
    /// How it is acknowledged.
    pub acker: Box<dyn Acker>,
}

/// Acknowledges one delivery.
#[async_trait]
pub trait Acker: Send {
    /// Takes the delivery off the queue for good; answers when the engine has been told. It may come again all the same,
    /// if the engine goes away before it has heard.
    async fn ack(self: Box<Self>) -> Result<(), StoreError>;
}

/// How full a channel's queue is. `None` where the engine cannot tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Depth {
    /// Batches that wait for a sender.
    pub ready: u64,
    /// Batches that a sender holds unacknowledged.
    pub unacked: Option<u64>,
    /// Batches in the ladder.
    pub delayed: u64,
    /// Dead letters, of this channel or, where the engine keeps them in one queue, of all channels.
    pub dead: u64,
    /// Users in ready, unacknowledged and delayed batches together.
    pub users: Option<u64>,
    /// When the oldest ready batch was put in (real time); `None` also where nothing is ready.
    pub oldest: Option<Instant>,
}
