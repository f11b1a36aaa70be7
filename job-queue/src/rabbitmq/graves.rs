use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use domain::Instant;
use futures_util::StreamExt;
use plumbing::amqp::{
    Broker, Link,
    lapin::{
        Channel,
        message::Delivery,
        options::{
            BasicAckOptions, BasicCancelOptions, BasicConsumeOptions, BasicGetOptions, BasicNackOptions,
            BasicQosOptions, QueueDeclareOptions, QueueDeleteOptions,
        },
        types::FieldTable,
    },
};
use tokio::time::{Instant as Moment, sleep, timeout};

use super::{
    letter,
    topology::{MOST_DEAD, Topology},
};
use crate::{DeadId, DeadLetter, StoreError};

/// The most dead letters of one answer.
const MOST_LISTED: usize = 1_000;
/// The most bytes of messages that one answer gathers, its last letter aside.
const PAGE: usize = 16 << 20;
/// The most letters that one reading looks at: all there can be.
const MOST_SEEN: u16 = u16::MAX;
/// The longest that one reading may take, and so the longest that the next one waits for it.
const READING: Duration = Duration::from_secs(60);
/// Between two attempts to be the one who reads.
const ASK: Duration = Duration::from_millis(100);
/// How long no letter comes before it is thought that there is none.
const QUIET: Duration = Duration::from_secs(1);
/// Between two looks at whether what was given back is there again.
const LOOK: Duration = Duration::from_millis(10);
/// The broker's answer for a queue that another connection has for itself.
const LOCKED: u16 = 405;

/// The dead letters of a broker.
///
/// A queue has no other way to be looked at than to take from it. So a reading takes all letters on a connection of its own,
/// takes off for good those that are wanted, and gives back the others in their order; should the reader die, the broker gives
/// back all. One reads at a time: a queue that can be had by one connection only is the lock.
#[derive(Debug)]
pub(super) struct Graves {
    broker: Arc<Broker>,
    topology: Arc<Topology>,
}

/// What to do with a letter that is looked at.
enum Fate {
    Keep,
    TakeOff,
}

impl Graves {
    pub(super) fn new(broker: Arc<Broker>, topology: Arc<Topology>) -> Self {
        Self { broker, topology }
    }

    /// The oldest after an id, fewer than `limit` where they are very long.
    pub(super) async fn list(
        &self,
        after: Option<DeadId>,
        limit: usize,
    ) -> Result<Vec<(DeadId, DeadLetter)>, StoreError> {
        let limit = limit.min(MOST_LISTED);
        let mut page = BTreeMap::new();
        let mut size = 0;
        self.read(|id, letter| {
            // the queue is nearly in order, but for letters of several processes
            if limit > 0 && after.is_none_or(|after| after < id) {
                size += letter.bytes.len();
                page.insert(id, letter);
                while page.len() > limit || (size > PAGE && page.len() > 1) {
                    size -= page.pop_last().map_or(0, |(_, last)| last.bytes.len());
                }
            }
            Fate::Keep
        })
        .await?;
        Ok(page.into_iter().collect())
    }

    pub(super) async fn take(&self, ids: &[DeadId]) -> Result<u64, StoreError> {
        let ids: BTreeSet<_> = ids.iter().copied().collect();
        if ids.is_empty() {
            return Ok(0);
        }
        self.read(|id, _| if ids.contains(&id) { Fate::TakeOff } else { Fate::Keep }).await
    }

    pub(super) async fn forget(&self, before: Instant) -> Result<u64, StoreError> {
        self.read(|_, letter| if letter.at < before { Fate::TakeOff } else { Fate::Keep }).await
    }

    /// Looks at all letters. Answers how many were taken off.
    async fn read(&self, look: impl FnMut(DeadId, DeadLetter) -> Fate + Send) -> Result<u64, StoreError> {
        let link = Link::open(&self.broker, "stepcast dead letters").await?;
        let held = |_| StoreError::Unavailable(format!("somebody has read the dead letters for {READING:?}"));
        let channel = timeout(READING, self.alone(&link)).await.map_err(held)??;
        let reading = async {
            let taken = self.read_on(&link, &channel, look).await?;
            let lock =
                channel.queue_delete(self.topology.names().reader().into(), QueueDeleteOptions::default());
            link.answer("the end of a reading", lock).await?;
            Ok(taken)
        };
        let late =
            |_| StoreError::Unavailable(format!("the dead letters could not be read within {READING:?}"));
        timeout(READING, reading).await.map_err(late)?
    }

    /// A channel of the connection that has the lock now, which ends with it.
    async fn alone(&self, link: &Link) -> Result<Channel, StoreError> {
        loop {
            let channel = link.channel().await?;
            let options = QueueDeclareOptions { exclusive: true, ..QueueDeclareOptions::default() };
            let reader = self.topology.names().reader();
            let asked = channel.queue_declare(reader.into(), options, FieldTable::default());
            match link.answer("the lock of the dead letters", asked).await {
                Ok(_) => return Ok(channel),
                Err(error) if error.code() == Some(LOCKED) => sleep(ASK).await,
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn read_on(
        &self,
        link: &Link,
        channel: &Channel,
        mut look: impl FnMut(DeadId, DeadLetter) -> Fate + Send,
    ) -> Result<u64, StoreError> {
        self.topology.count_dead(link, channel).await?;
        link.answer("a prefetch", channel.basic_qos(MOST_SEEN, BasicQosOptions::default())).await?;
        let (mut off, mut seen) = (Vec::new(), 0u64);
        let mut see = |message: Delivery| {
            let (id, letter) = letter::read(self.topology.names(), &message.properties, message.data)?;
            if matches!(look(id, letter), Fate::TakeOff) {
                off.push(message.delivery_tag);
            }
            seen += 1;
            Ok::<_, StoreError>(seen < MOST_SEEN.into())
        };
        // a count may be wrong, but that a queue has nothing to get is certain
        while let Some((first, more)) = self.get(link, channel).await? {
            if !(see(first)? && self.gather(link, channel, more, &mut see).await?) {
                break;
            }
        }
        for &tag in &off {
            let acknowledged = channel.basic_ack(tag, BasicAckOptions::default());
            link.answer("taking off a dead letter", acknowledged).await?;
        }
        let all = BasicNackOptions { multiple: true, requeue: true };
        link.answer("giving back the dead letters", channel.basic_nack(0, all)).await?;
        let off = u64::try_from(off.len()).unwrap_or(u64::MAX);
        self.settled(link, channel, seen.saturating_sub(off)).await?;
        Ok(off)
    }

    /// One letter, and how many there are behind it.
    async fn get(&self, link: &Link, channel: &Channel) -> Result<Option<(Delivery, u32)>, StoreError> {
        let asked = channel.basic_get(self.topology.names().dead().into(), BasicGetOptions::default());
        let got = link.answer("a dead letter", asked).await?;
        Ok(got.map(|got| (got.delivery, got.message_count)))
    }

    /// Shows so many letters, or those that come before it is quiet. Answers whether there is room for more.
    async fn gather(
        &self,
        link: &Link,
        channel: &Channel,
        count: u32,
        see: &mut (impl FnMut(Delivery) -> Result<bool, StoreError> + Send),
    ) -> Result<bool, StoreError> {
        let mut room = true;
        if count == 0 {
            return Ok(room);
        }
        let queue = self.topology.names().dead();
        let (options, arguments) = (BasicConsumeOptions::default(), FieldTable::default());
        let consumed = channel.basic_consume(queue.into(), "".into(), options, arguments);
        let mut letters = link.answer("the dead letters", consumed).await?;
        let cut_off =
            |_| StoreError::Unavailable("the dead letters could not be read to their end".to_owned());
        for _ in 0..count {
            match timeout(QUIET, letters.next()).await {
                Ok(Some(letter)) => room = see(letter.map_err(cut_off)?)?,
                Ok(None) | Err(_) => break,
            }
        }
        let cancelled = channel.basic_cancel(letters.tag(), BasicCancelOptions::default());
        link.answer("the end of a reading", cancelled).await?;
        // those that came until then are out, too
        while let Ok(Some(letter)) = timeout(QUIET, letters.next()).await {
            room = see(letter.map_err(cut_off)?)?;
        }
        Ok(room)
    }

    /// Waits until what was given back is there again. Neither that nor an acknowledgement has an answer of its own, but the
    /// broker does them in order.
    async fn settled(&self, link: &Link, channel: &Channel, back: u64) -> Result<(), StoreError> {
        // a full queue loses some in between
        let full = u64::try_from(MOST_DEAD).unwrap_or(u64::MAX);
        let deadline = Moment::now() + link.limit();
        while back < full && self.topology.count_dead(link, channel).await? < back {
            if Moment::now() > deadline {
                return Err(link.no_answer("dead letters that were given back").into());
            }
            sleep(LOOK).await;
        }
        Ok(())
    }
}
