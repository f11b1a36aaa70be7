//! What queues there are and with which arguments. A queue keeps for its life the arguments it was declared with, and one
//! that stands with others is refused: so a change here needs queues of another name, or empty ones that are deleted first.

use std::time::Duration;

use domain::ChannelName;
use plumbing::amqp::{
    AmqpError, Link,
    lapin::{
        Channel,
        options::QueueDeclareOptions,
        types::{AMQPValue, FieldTable},
    },
};

use super::names::Names;
use crate::{Ladder, StoreError};

/// The most messages of one queue. At the limit what is new is refused, and whoever publishes waits.
pub(super) const MOST_BATCHES: i64 = 1_000_000;

/// The most dead letters, of all channels. At the limit the oldest give way: what cannot be buried would stop its channel,
/// and what became of each user is in the ledger. One reading sees them all.
pub(super) const MOST_DEAD: i64 = 50_000;

/// How often a message may come back before the broker takes it for one that kills whoever works it. It ages with the
/// neighbours it was prefetched with, and with every restart, so the bound is far above what restarts come to in a night;
/// brokers from 4.0 on have one of 20 if none is set.
pub(super) const DELIVERY_LIMIT: i64 = 100;

/// The same for dead letters, which come back with each reading: as good as none. A broker from 4.0 on knows -1 for that,
/// one before does not.
const READING_LIMIT: i64 = 1_000_000_000;

/// How many messages are ready in a channel's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) work: u64,
    pub(super) wait: u64,
    pub(super) dead: u64,
}

/// The queues of an installation.
#[derive(Debug)]
pub(super) struct Topology {
    names: Names,
    ladder: Ladder,
}

impl Topology {
    pub(super) fn new(names: Names, ladder: Ladder) -> Self {
        Self { names, ladder }
    }

    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    pub(super) fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// Declares a channel's queues and that of the dead letters, and answers how full they are. What stands already stays
    /// as it is.
    pub(super) async fn declare(&self, link: &Link, channel: &ChannelName) -> Result<Counts, StoreError> {
        let work = self.names.work(channel)?;
        let on = link.channel().await?;
        // the dead letters' first: a message must have a place to go when it is given up
        let dead = self.count_dead(link, &on).await?;
        let ready = self.count_work(link, &on, &work).await?;
        let mut counts = Counts { work: ready, wait: 0, dead };
        for &step in self.ladder.steps() {
            let name = self.names.wait(channel, step)?;
            counts.wait += declare(link, &on, &name, wait(&work, step)).await?;
        }
        close(link, on).await?;
        Ok(counts)
    }

    /// Declares the queue of the dead letters and answers how many there are.
    pub(super) async fn declare_dead(&self, link: &Link) -> Result<u64, StoreError> {
        let on = link.channel().await?;
        let count = self.count_dead(link, &on).await?;
        close(link, on).await?;
        Ok(count)
    }

    /// The same on an AMQP channel that stands.
    pub(super) async fn count_dead(&self, link: &Link, on: &Channel) -> Result<u64, StoreError> {
        declare(link, on, &self.names.dead(), dead()).await
    }

    /// Declares a channel's work queue and answers how many messages are ready in it.
    pub(super) async fn count_work(&self, link: &Link, on: &Channel, queue: &str) -> Result<u64, StoreError> {
        declare(link, on, queue, self.work()).await
    }

    /// A message that came back too often goes to the dead letters, and is off this queue only once it is there.
    fn work(&self) -> FieldTable {
        let mut arguments = quorum();
        dead_lettered(&mut arguments, &self.names.dead());
        set(&mut arguments, "x-max-length", MOST_BATCHES);
        set(&mut arguments, "x-delivery-limit", DELIVERY_LIMIT);
        arguments
    }
}

/// A message whose time is over goes to the channel's queue. There is one queue a step, since only the head of a queue is
/// looked at: with all waits in one, a short one would wait behind a long one.
fn wait(work: &str, step: Duration) -> FieldTable {
    let mut arguments = quorum();
    dead_lettered(&mut arguments, work);
    set(&mut arguments, "x-max-length", MOST_BATCHES);
    set(&mut arguments, "x-message-ttl", i64::try_from(step.as_millis()).unwrap_or(i64::MAX));
    arguments
}

fn dead() -> FieldTable {
    let mut arguments = quorum();
    set(&mut arguments, "x-max-length", MOST_DEAD);
    text(&mut arguments, "x-overflow", "drop-head");
    set(&mut arguments, "x-delivery-limit", READING_LIMIT);
    arguments
}

/// Replicated, where the broker is a cluster.
fn quorum() -> FieldTable {
    let mut arguments = FieldTable::default();
    text(&mut arguments, "x-queue-type", "quorum");
    arguments
}

/// By the default exchange, which leads to the queue of that name. At least once is to be had only where a full queue
/// refuses what is new.
fn dead_lettered(arguments: &mut FieldTable, to: &str) {
    text(arguments, "x-dead-letter-exchange", "");
    text(arguments, "x-dead-letter-routing-key", to);
    text(arguments, "x-dead-letter-strategy", "at-least-once");
    text(arguments, "x-overflow", "reject-publish");
}

fn set(arguments: &mut FieldTable, name: &str, value: i64) {
    arguments.insert(name.into(), AMQPValue::LongLongInt(value));
}

fn text(arguments: &mut FieldTable, name: &str, value: &str) {
    arguments.insert(name.into(), AMQPValue::LongString(value.into()));
}

/// How many messages are ready in a queue, which stands now. A broker under load may say 0 where there are some: it waits a
/// quarter of a second for the queue to tell.
async fn declare(link: &Link, on: &Channel, name: &str, arguments: FieldTable) -> Result<u64, StoreError> {
    let asked = on.queue_declare(name.into(), QueueDeclareOptions::durable(), arguments);
    match link.answer("declaring a queue", asked).await {
        Ok(queue) => Ok(queue.message_count().into()),
        Err(error) if error.code() == Some(406) => Err(StoreError::Unavailable(format!(
            "queue {name:?} stands with other arguments: delete it once it is empty, or choose another prefix ({error})"
        ))),
        Err(error) => Err(StoreError::Unavailable(format!("queue {name:?}: {error}"))),
    }
}

async fn close(link: &Link, channel: Channel) -> Result<(), AmqpError> {
    link.answer("closing a channel", channel.close(200, "OK".into())).await
}
