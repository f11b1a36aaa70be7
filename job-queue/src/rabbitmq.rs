mod consumer;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod graves;
mod letter;
mod message;
mod names;
mod publisher;
mod returns;
mod topology;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use domain::ChannelName;
use plumbing::amqp::{AmqpError, AmqpSettings, Broker, Keeper};

use self::{
    consumer::RabbitConsumer, graves::Graves, message::Message, names::Names, publisher::Publisher,
    topology::Topology,
};
use crate::{Batch, Consumer, DeadId, DeadLetter, Depth, JobQueue, Ladder, StoreError, encoding::sound};

/// The queue on a RabbitMQ broker, 3.10 or later.
///
/// A channel has a quorum queue `<prefix>.<channel>` and one queue a step of the ladder, `<prefix>.<channel>.wait.<ms>`;
/// `<prefix>.dead` has the dead letters of all channels. What is published goes by one connection and what is consumed by
/// another, since a broker short of memory or disk stops reading from those who publish.
///
/// Calls connect when they have to and fail when that takes longer than the confirm time limit. Nothing needs to be opened
/// again after a fault: the next call connects anew and declares everything again.
pub struct RabbitQueue {
    topology: Arc<Topology>,
    publisher: Publisher,
    consuming: Keeper,
    graves: Graves,
}

impl RabbitQueue {
    /// A queue on the broker of these settings. Does not connect yet.
    pub fn open(settings: &AmqpSettings, ladder: Ladder) -> Result<Arc<Self>, AmqpError> {
        let broker = Arc::new(Broker::new(settings)?);
        let topology = Arc::new(Topology::new(Names::new(&settings.prefix), ladder));
        Ok(Arc::new(Self {
            publisher: Publisher::new(
                Keeper::new(Arc::clone(&broker), "stepcast publish"),
                Arc::clone(&topology),
            ),
            consuming: Keeper::new(Arc::clone(&broker), "stepcast consume"),
            graves: Graves::new(broker, Arc::clone(&topology)),
            topology,
        }))
    }
}

#[async_trait]
impl JobQueue for RabbitQueue {
    async fn publish(&self, batches: &[Batch]) -> Result<(), StoreError> {
        let names = self.topology.names();
        let message = |batch: &Batch| Ok(Message::of(batch, names.work(&batch.channel)?, sound(batch)?));
        let messages: Vec<_> = batches.iter().map(message).collect::<Result<_, StoreError>>()?;
        self.publisher.send(&messages).await
    }

    async fn make_ready(&self, channels: &[ChannelName]) -> Result<(), StoreError> {
        self.publisher.make_ready(channels).await
    }

    async fn delay(&self, batch: &Batch, wait: Duration) -> Result<(), StoreError> {
        let step = self.topology.ladder().hop(wait);
        let queue = self.topology.names().wait(&batch.channel, step)?;
        self.publisher.send(&[Message::of(batch, queue, sound(batch)?)]).await
    }

    async fn consume(&self, channel: &ChannelName, prefetch: usize) -> Result<Box<dyn Consumer>, StoreError> {
        let link = self.consuming.link(self.consuming.broker().limit()).await?;
        Ok(Box::new(RabbitConsumer::attach(link, &self.topology, channel, prefetch).await?))
    }

    async fn bury(&self, letter: DeadLetter) -> Result<(), StoreError> {
        let message = letter::message(self.topology.names().dead(), &letter.cut());
        self.publisher.send(&[message]).await
    }

    async fn dead(
        &self,
        after: Option<DeadId>,
        limit: usize,
    ) -> Result<Vec<(DeadId, DeadLetter)>, StoreError> {
        self.graves.list(after, limit).await
    }

    async fn take_dead(&self, ids: &[DeadId]) -> Result<u64, StoreError> {
        self.graves.take(ids).await
    }

    async fn forget_dead(&self, before: domain::Instant) -> Result<u64, StoreError> {
        self.graves.forget(before).await
    }

    async fn depth(&self, channel: &ChannelName) -> Result<Depth, StoreError> {
        // on the consuming connection: the broker may have stopped reading the other
        let link = self.consuming.link(self.consuming.broker().limit()).await?;
        let counts = self.topology.declare(&link, channel).await?;
        let (ready, delayed, dead) = (counts.work, counts.wait, counts.dead);
        Ok(Depth { ready, unacked: None, delayed, dead, users: None, oldest: None })
    }

    fn refusal(&self) -> Option<StoreError> {
        self.publisher.blocked()
    }
}
