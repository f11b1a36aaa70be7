use std::{
    collections::{BTreeSet, HashSet},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use domain::ChannelName;
use futures_util::poll;
use plumbing::amqp::{
    AmqpError, Keeper, Link,
    lapin::{
        Channel,
        options::{BasicPublishOptions, ConfirmSelectOptions},
        types::ShortString,
    },
};
use tokio::{
    sync::{Mutex as AsyncMutex, Semaphore},
    time::{Instant, timeout, timeout_at},
};

use super::{message::Message, topology::Topology};
use crate::StoreError;

/// Messages that are on their way at a time on one AMQP channel; more wait for these.
const IN_FLIGHT: usize = 2_000;
/// AMQP channels to publish on, which is how many calls can be under way at a time.
const LANES: usize = 16;
/// The most channels, which are configured by hand.
const MOST_CHANNELS: usize = 1_024;

/// Publishes with confirms.
///
/// A call has an AMQP channel for itself: the library gives a message that was returned to whichever of a channel's
/// confirms comes next, so two calls on one channel could each take the other's returned message for confirmed.
#[derive(Debug)]
pub(super) struct Publisher {
    keeper: Keeper,
    topology: Arc<Topology>,
    live: Mutex<Option<Arc<Live>>>,
}

/// What hangs on one connection, and goes with it.
#[derive(Debug)]
struct Live {
    link: Arc<Link>,
    lanes: Mutex<Vec<Channel>>,
    permits: Semaphore,
    /// Channels whose queues were declared; `None` stands for the dead letters'.
    declared: Mutex<BTreeSet<Option<ChannelName>>>,
    declaring: AsyncMutex<()>,
}

impl Publisher {
    pub(super) fn new(keeper: Keeper, topology: Arc<Topology>) -> Self {
        Self { keeper, topology, live: Mutex::new(None) }
    }

    /// Publishes messages in their order and waits until all are confirmed. A queue that is gone is declared again, once.
    pub(super) async fn send(&self, messages: &[Message]) -> Result<(), StoreError> {
        if messages.is_empty() {
            return Ok(());
        }
        let live = self.live().await?;
        let end = self.send_on(&live, messages).await;
        if let (Err(error), Some(blocked)) = (&end, live.link.blocked()) {
            tracing::debug!(%error, "not published while the broker blocks");
            return Err(blocked.into());
        }
        end
    }

    /// Why the broker takes nothing, if it said so.
    pub(super) fn blocked(&self) -> Option<StoreError> {
        let live = lock(&self.live).clone()?;
        live.link.blocked().filter(|_| live.link.alive()).map(StoreError::from)
    }

    async fn send_on(&self, live: &Live, messages: &[Message]) -> Result<(), StoreError> {
        // what is written to a connection that is blocked only piles up
        live.link.unblocked(live.link.limit()).await?;
        self.declare(live, messages).await?;
        let permit = timeout(live.link.limit(), live.permits.acquire()).await;
        let _permit = permit.map_err(|_| live.link.no_answer("room to publish"))?;
        // dropped on an error, and with the call: what is still on its way on it is nobody else's
        let lane = live.lane().await?;
        for part in messages.chunks(IN_FLIGHT) {
            let mut lost = live.push(&lane, part.iter().collect()).await?;
            if !lost.is_empty() {
                tracing::warn!(messages = lost.len(), queue = %lost[0].queue, "a queue is gone; declaring it again");
                lock(&live.declared).clear();
                self.declare(live, part).await?;
                lost = live.push(&lane, lost).await?;
            }
            if let Some(message) = lost.first() {
                let text =
                    format!("queue {:?} is gone, and comes back by no declaration", message.queue.as_str());
                return Err(StoreError::Unavailable(text));
            }
        }
        lock(&live.lanes).push(lane);
        Ok(())
    }

    async fn live(&self) -> Result<Arc<Live>, AmqpError> {
        let link = self.keeper.link(self.keeper.broker().limit()).await?;
        let mut live = lock(&self.live);
        match live.as_ref().filter(|live| Arc::ptr_eq(&live.link, &link)) {
            Some(live) => Ok(Arc::clone(live)),
            None => Ok(Arc::clone(live.insert(Arc::new(Live {
                link,
                lanes: Mutex::default(),
                permits: Semaphore::new(LANES),
                declared: Mutex::default(),
                declaring: AsyncMutex::default(),
            })))),
        }
    }

    /// Declares the queues that messages go to, those that were not on this connection.
    async fn declare(&self, live: &Live, messages: &[Message]) -> Result<(), StoreError> {
        let mut asked = HashSet::new();
        for message in messages {
            if !asked.insert(&message.channel) || lock(&live.declared).contains(&message.channel) {
                continue;
            }
            let _turn = live.declaring.lock().await;
            if lock(&live.declared).contains(&message.channel) {
                continue;
            }
            if lock(&live.declared).len() >= MOST_CHANNELS {
                let limit = u64::try_from(MOST_CHANNELS).unwrap_or(u64::MAX);
                return Err(StoreError::Full { what: "the list of channels", limit });
            }
            match &message.channel {
                Some(channel) => drop(self.topology.declare(&live.link, channel).await?),
                None => drop(self.topology.declare_dead(&live.link).await?),
            }
            lock(&live.declared).insert(message.channel.clone());
        }
        Ok(())
    }
}

impl Live {
    /// An AMQP channel that is in confirm mode and that nothing is on its way on.
    async fn lane(&self) -> Result<Channel, AmqpError> {
        while let Some(lane) = { lock(&self.lanes).pop() } {
            if lane.status().connected() {
                return Ok(lane);
            }
        }
        let lane = self.link.channel().await?;
        self.link.answer("confirms", lane.confirm_select(ConfirmSelectOptions::default())).await?;
        Ok(lane)
    }

    /// Publishes messages and waits for all confirms. Gives back those that no queue took.
    async fn push<'m>(
        &self,
        lane: &Channel,
        messages: Vec<&'m Message>,
    ) -> Result<Vec<&'m Message>, StoreError> {
        let deadline = Instant::now() + self.link.limit();
        let Ok(end) = timeout_at(deadline, push(lane, &messages)).await else {
            if self.link.blocked().is_none() {
                self.link.cut();
            }
            return Err(self.link.no_answer("confirms of what was published").into());
        };
        let returned = end?;
        if returned.is_empty() {
            return Ok(Vec::new());
        }
        let lost = messages.iter().filter(|m| returned.contains(&(m.queue.clone(), m.id.clone())));
        let lost: Vec<_> = lost.copied().collect();
        match lost.len() >= returned.len() {
            true => Ok(lost),
            false => Err(StoreError::Unavailable("the broker returned what was not published".to_owned())),
        }
    }
}

/// Queue and id of each message that was returned. A message that the broker refuses is an error.
async fn push(
    lane: &Channel,
    messages: &[&Message],
) -> Result<HashSet<(ShortString, ShortString)>, StoreError> {
    let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
    let failed = |error| StoreError::from(AmqpError::refused("publishing", error));
    let (mut writing, mut confirms) = (Vec::new(), Vec::with_capacity(messages.len()));
    for message in messages {
        let properties = message.properties.clone();
        let mut written = Box::pin(lane.basic_publish(
            "".into(),
            message.queue.clone(),
            options,
            &message.bytes,
            properties,
        ));
        // the first poll hands it to the connection, which keeps the order; waiting for each to be written would be slow
        match poll!(written.as_mut()) {
            Poll::Ready(confirm) => confirms.push(confirm.map_err(failed)?),
            Poll::Pending => writing.push(written),
        }
    }
    for written in writing {
        confirms.push(written.await.map_err(failed)?);
    }
    let mut returned = HashSet::new();
    let mut refused = false;
    for confirm in confirms {
        let confirmation = pin!(confirm).await.map_err(failed)?;
        refused |= !confirmation.is_ack();
        if let Some(message) = confirmation.take_message() {
            let id = message.delivery.properties.message_id().clone().unwrap_or_default();
            returned.insert((message.delivery.routing_key.clone(), id));
        }
    }
    match refused {
        true => Err(StoreError::Unavailable(
            "the broker refused a message: its queue is full or has lost the majority of its nodes"
                .to_owned(),
        )),
        false => Ok(returned),
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
