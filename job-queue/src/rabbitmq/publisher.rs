use std::{
    collections::{BTreeSet, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use domain::ChannelName;
use futures_util::{StreamExt, poll, stream};
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
    time::timeout,
};

use super::{message::Message, topology::Topology};
use crate::StoreError;

/// Messages that are on their way at a time on one AMQP channel; more wait for these.
const IN_FLIGHT: usize = 2_000;
/// The most AMQP channels to publish on, which is how many calls can be under way at a time: two for each of 64 seals.
const LANES: usize = 128;
/// AMQP channels of a connection that are left for declaring queues, where the broker allows it few.
const OTHERS: usize = 16;
/// The most lanes that are opened at a time.
const OPENED_AT_ONCE: usize = 16;
/// The most channels, which are configured by hand.
const MOST_CHANNELS: usize = 1_024;

/// Queue and id of a message.
type Place = (ShortString, ShortString);
/// Messages that came back.
type Returned = HashSet<Place>;

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

    /// Connects, declares these channels' queues and opens what is published on, as far as that is not done.
    pub(super) async fn make_ready(&self, channels: &[ChannelName]) -> Result<(), StoreError> {
        let live = self.live().await?;
        live.link.unblocked(live.link.limit()).await?;
        self.declare(&live, channels.iter().cloned().map(Some).collect()).await?;
        live.open_lanes().await
    }

    /// Why the broker takes nothing, if it said so.
    pub(super) fn blocked(&self) -> Option<StoreError> {
        let live = lock(&self.live).clone()?;
        live.link.blocked().filter(|_| live.link.alive()).map(StoreError::from)
    }

    async fn send_on(&self, live: &Live, messages: &[Message]) -> Result<(), StoreError> {
        // what is written to a connection that is blocked only piles up
        live.link.unblocked(live.link.limit()).await?;
        self.declare(live, channels(messages)).await?;
        let permit = timeout(live.link.limit(), live.permits.acquire()).await;
        let _permit = permit.map_err(|_| live.link.no_answer("room to publish"))?;
        // dropped on an error, and with the call: what is still on its way on it is nobody else's
        let lane = live.lane().await?;
        let mut lost = live.push(&lane, messages.iter().collect()).await?;
        if !lost.is_empty() {
            tracing::warn!(messages = lost.len(), queue = %lost[0].queue, "a queue is gone; declaring it again");
            lock(&live.declared).clear();
            self.declare(live, channels(messages)).await?;
            lost = live.push(&lane, lost).await?;
        }
        if let Some(message) = lost.first() {
            let text =
                format!("queue {:?} is gone, and comes back by no declaration", message.queue.as_str());
            return Err(StoreError::Unavailable(text));
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
                lanes: Mutex::default(),
                permits: Semaphore::new(lanes(link.most_channels())),
                link,
                declared: Mutex::default(),
                declaring: AsyncMutex::default(),
            })))),
        }
    }

    /// Declares the queues of these channels, those that were not on this connection.
    async fn declare(&self, live: &Live, channels: Vec<Option<ChannelName>>) -> Result<(), StoreError> {
        for channel in channels {
            if lock(&live.declared).contains(&channel) {
                continue;
            }
            let turn = timeout(live.link.limit(), live.declaring.lock()).await;
            let _turn = turn.map_err(|_| live.link.no_answer("a declaration that another waits for"))?;
            if lock(&live.declared).contains(&channel) {
                continue;
            }
            if lock(&live.declared).len() >= MOST_CHANNELS {
                let limit = u64::try_from(MOST_CHANNELS).unwrap_or(u64::MAX);
                return Err(StoreError::Full { what: "the list of channels", limit });
            }
            match &channel {
                Some(channel) => drop(self.topology.declare(&live.link, channel).await?),
                None => drop(self.topology.declare_dead(&live.link).await?),
            }
            lock(&live.declared).insert(channel);
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
        self.open_lane().await
    }

    async fn open_lane(&self) -> Result<Channel, AmqpError> {
        let lane = self.link.channel().await?;
        self.link.answer("confirms", lane.confirm_select(ConfirmSelectOptions::default())).await?;
        Ok(lane)
    }

    /// Opens the AMQP channels that calls would open as they need them. What is opened stays, where another cannot be.
    async fn open_lanes(&self) -> Result<(), StoreError> {
        let missing = self.permits.available_permits().saturating_sub(lock(&self.lanes).len());
        let mut opening = stream::iter(0..missing).map(|_| self.open_lane()).buffer_unordered(OPENED_AT_ONCE);
        while let Some(lane) = opening.next().await {
            let lane = lane?;
            let mut lanes = lock(&self.lanes);
            // calls may have given theirs back meanwhile
            if lanes.len() < self.permits.available_permits() {
                lanes.push(lane);
            }
        }
        Ok(())
    }

    /// Publishes messages and waits for all confirms. Gives back those that no queue took.
    async fn push<'m>(
        &self,
        lane: &Channel,
        messages: Vec<&'m Message>,
    ) -> Result<Vec<&'m Message>, StoreError> {
        let returned = match push(lane, &messages, self.link.limit()).await {
            Ok(returned) => returned,
            Err(Unconfirmed::Refused(error)) => return Err(error),
            Err(Unconfirmed::Late) => {
                // one that is blocked goes on when that is lifted
                if self.link.blocked().is_none() {
                    self.link.cut();
                }
                return Err(self.link.no_answer("confirms of what was published").into());
            }
        };
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

/// Why a message is not confirmed.
enum Unconfirmed {
    Late,
    Refused(StoreError),
}

/// Publishes messages and waits for all confirms, for each at most so long. Answers queue and id of those that were returned.
async fn push(lane: &Channel, messages: &[&Message], limit: Duration) -> Result<Returned, Unconfirmed> {
    let mut returned = Returned::new();
    let mut window = VecDeque::with_capacity(messages.len().min(IN_FLIGHT));
    for message in messages {
        if window.len() >= IN_FLIGHT
            && let Some(oldest) = window.pop_front()
        {
            returned.extend(confirmed(oldest, limit).await?);
        }
        let mut on_its_way = Box::pin(publish(lane, message));
        // the first poll hands it to the connection, which keeps the order; waiting for each to be written would be slow
        match poll!(on_its_way.as_mut()) {
            Poll::Ready(end) => returned.extend(end.map_err(Unconfirmed::Refused)?),
            Poll::Pending => window.push_back(on_its_way),
        }
    }
    for oldest in window {
        returned.extend(confirmed(oldest, limit).await?);
    }
    Ok(returned)
}

async fn confirmed(
    on_its_way: impl Future<Output = Result<Option<Place>, StoreError>>,
    limit: Duration,
) -> Result<Option<Place>, Unconfirmed> {
    timeout(limit, on_its_way).await.map_err(|_| Unconfirmed::Late)?.map_err(Unconfirmed::Refused)
}

/// Publishes one message. Answers queue and id of a message that was returned, this one or another of the lane's.
async fn publish(lane: &Channel, message: &Message) -> Result<Option<Place>, StoreError> {
    let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
    let failed = |error| StoreError::from(AmqpError::refused("publishing", error));
    let (queue, properties) = (message.queue.clone(), message.properties.clone());
    let written = lane.basic_publish("".into(), queue, options, &message.bytes, properties);
    let confirmation = written.await.map_err(failed)?.await.map_err(failed)?;
    if !confirmation.is_ack() {
        return Err(StoreError::Unavailable(
            "the broker refused a message: its queue is full or has lost the majority of its nodes"
                .to_owned(),
        ));
    }
    let returned = confirmation.take_message().map(|message| message.delivery);
    Ok(returned
        .map(|message| (message.routing_key, message.properties.message_id().clone().unwrap_or_default())))
}

/// How many lanes a connection has that may have so many AMQP channels.
fn lanes(most_channels: usize) -> usize {
    LANES.min(most_channels.saturating_sub(OTHERS)).max(1)
}

/// The channels that messages go to.
fn channels(messages: &[Message]) -> Vec<Option<ChannelName>> {
    let mut channels: Vec<_> = messages.iter().map(|message| &message.channel).collect();
    // one after another they are mostly of one
    channels.dedup();
    channels.into_iter().cloned().collect()
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_have_room_beside_the_lanes() {
        assert_eq!(lanes(2_047), LANES);
        assert_eq!(lanes(100), 84);
        assert_eq!((lanes(17), lanes(3)), (1, 1));
    }
}
