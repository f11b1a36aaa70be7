mod channel;
mod consumer;
mod graves;
mod rows;
mod shared;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::Utc;
use consumer::EmbeddedConsumer;
use domain::ChannelName;
use plumbing::File;
use tokio::time::Instant;

use self::{
    channel::Item,
    rows::{Place, Row},
    shared::{Shared, users},
};
use crate::{Batch, Consumer, DeadId, DeadLetter, Depth, JobQueue, Ladder, StoreError, encoding::sound};

/// The queue in the embedded file. The file is the truth: memory follows it once a write is on disk. Who holds what
/// is in memory only, so that everything unacknowledged is delivered again after a restart.
pub struct EmbeddedQueue {
    shared: Arc<Shared>,
    ladder: Ladder,
    limits: Limits,
}

/// What an embedded queue may grow to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Batches of all channels in queues and ladders together. At the limit what is new is refused as full.
    pub batches: u64,
    /// Dead letters of all channels. At the limit the oldest gives way: what cannot be buried would stop its channel, and
    /// what became of each user is in the ledger.
    pub dead: u64,
}

impl Default for Limits {
    /// A million batches, a hundred thousand dead letters.
    fn default() -> Self {
        Self { batches: 1_000_000, dead: 100_000 }
    }
}

/// The most bytes of a message.
const MOST_BYTES: u64 = 16 << 20;
/// The most dead letters of one answer.
const MOST_DEAD: usize = 1_000;

/// A channel that nothing was ever put into.
const EMPTY: Depth = Depth { ready: 0, unacked: Some(0), delayed: 0, dead: 0, users: Some(0), oldest: None };

impl EmbeddedQueue {
    /// Reads what the file has of a queue. There may be one queue a file.
    pub fn open(file: Arc<File>, ladder: Ladder, limits: Limits) -> Result<Arc<Self>, StoreError> {
        let shared = Arc::new(Shared::load(file, ladder.longest())?);
        Ok(Arc::new(Self { shared, ladder, limits }))
    }

    /// Puts bytes into a channel's queue as they are, for replays and for tests of what consumers do with bad ones.
    pub async fn publish_raw(&self, channel: &ChannelName, bytes: Vec<u8>) -> Result<(), StoreError> {
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MOST_BYTES {
            return Err(StoreError::Full { what: "a message (in bytes)", limit: MOST_BYTES });
        }
        self.put(vec![self.row(channel, bytes, None)], None).await
    }

    /// A message for the queue, or for the ladder with a wait.
    fn row(&self, channel: &ChannelName, bytes: Vec<u8>, wait: Option<Duration>) -> Row {
        let (now, sequence) = (Utc::now().timestamp_millis(), self.shared.sequence());
        let place = match wait {
            None => Place::Queue(now, sequence),
            Some(wait) => {
                let ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
                Place::Ladder(now.saturating_add(ms), sequence)
            }
        };
        Row { place, channel: channel.clone(), bytes }
    }

    /// Stores messages in one write, and makes them known as ready or, with a moment, as due then.
    async fn put(&self, rows: Vec<Row>, due: Option<Instant>) -> Result<(), StoreError> {
        let known: Vec<_> = rows
            .iter()
            .map(|row| {
                let item = Item { place: row.place, users: users(&row.bytes), redelivered: false };
                (row.channel.clone(), item)
            })
            .collect();
        for (channel, _) in &known {
            self.shared.with(channel, |_| ())?;
        }
        let most = self.limits.batches;
        let then = move |shared: &Shared, ()| {
            for (channel, item) in known {
                shared.look(&channel, |c| match due {
                    Some(due) => c.delay(item, due),
                    None => c.ready(item, Instant::now()),
                });
            }
        };
        self.shared.write(move |to| rows::put(to, &rows, most), then).await
    }
}

#[async_trait]
impl JobQueue for EmbeddedQueue {
    async fn publish(&self, batches: &[Batch]) -> Result<(), StoreError> {
        let row = |batch: &Batch| Ok(self.row(&batch.channel, sound(batch)?, None));
        let rows: Vec<_> = batches.iter().map(row).collect::<Result<_, StoreError>>()?;
        if rows.is_empty() {
            return Ok(());
        }
        self.put(rows, None).await
    }

    async fn delay(&self, batch: &Batch, wait: Duration) -> Result<(), StoreError> {
        let hop = self.ladder.hop(wait);
        let row = self.row(&batch.channel, sound(batch)?, Some(hop));
        self.put(vec![row], Some(Instant::now() + hop)).await
    }

    async fn consume(&self, channel: &ChannelName, prefetch: usize) -> Result<Box<dyn Consumer>, StoreError> {
        Ok(Box::new(EmbeddedConsumer::new(Arc::clone(&self.shared), channel, prefetch)?))
    }

    async fn bury(&self, letter: DeadLetter) -> Result<(), StoreError> {
        graves::bury(&self.shared, letter.cut(), self.limits.dead).await
    }

    async fn take_dead(&self, ids: &[DeadId]) -> Result<u64, StoreError> {
        graves::take(&self.shared, ids.to_vec()).await
    }

    async fn forget_dead(&self, before: domain::Instant) -> Result<u64, StoreError> {
        graves::forget(&self.shared, before).await
    }

    async fn dead(
        &self,
        after: Option<DeadId>,
        limit: usize,
    ) -> Result<Vec<(DeadId, DeadLetter)>, StoreError> {
        Ok(graves::list(&self.shared.file, after, limit.min(MOST_DEAD))?)
    }

    async fn depth(&self, channel: &ChannelName) -> Result<Depth, StoreError> {
        Ok(self.shared.look(channel, |c| c.depth(Instant::now())).unwrap_or(EMPTY))
    }
}

#[cfg(test)]
mod tests;
