//! A queue that counts, and fails where it is told to.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use domain::{BatchId, ChannelName, Instant};
use job_queue::{Batch, Consumer, DeadId, DeadLetter, Depth, JobQueue, StoreError};

pub(crate) struct Watched {
    inner: Arc<dyn JobQueue>,
    /// A batch whose call fails, once.
    pub(crate) fails: Mutex<Option<BatchId>>,
    /// Batches that were confirmed.
    pub(crate) confirmed: AtomicUsize,
    under_way: AtomicUsize,
    /// The most batches that were under way at a time.
    pub(crate) most: AtomicUsize,
    /// The channels it was made ready for.
    pub(crate) ready: Mutex<Vec<ChannelName>>,
}

impl Watched {
    pub(crate) fn over(inner: Arc<dyn JobQueue>) -> Self {
        let (confirmed, under_way, most) = Default::default();
        Self { inner, fails: Mutex::default(), confirmed, under_way, most, ready: Mutex::default() }
    }
}

#[async_trait]
impl JobQueue for Watched {
    async fn publish(&self, batches: &[Batch]) -> Result<(), StoreError> {
        let under_way = self.under_way.fetch_add(batches.len(), Ordering::SeqCst) + batches.len();
        self.most.fetch_max(under_way, Ordering::SeqCst);
        let fails = {
            let mut fails = self.fails.lock().unwrap();
            fails.take_if(|id| batches.iter().any(|batch| batch.id == *id)).is_some()
        };
        let end = match fails {
            true => Err(StoreError::Unavailable("not published on purpose".into())),
            false => self.inner.publish(batches).await,
        };
        self.under_way.fetch_sub(batches.len(), Ordering::SeqCst);
        if end.is_ok() {
            self.confirmed.fetch_add(batches.len(), Ordering::SeqCst);
        }
        end
    }

    async fn make_ready(&self, channels: &[ChannelName]) -> Result<(), StoreError> {
        *self.ready.lock().unwrap() = channels.to_vec();
        self.inner.make_ready(channels).await
    }

    async fn delay(&self, batch: &Batch, wait: Duration) -> Result<(), StoreError> {
        self.inner.delay(batch, wait).await
    }

    async fn consume(&self, channel: &ChannelName, prefetch: usize) -> Result<Box<dyn Consumer>, StoreError> {
        self.inner.consume(channel, prefetch).await
    }

    async fn bury(&self, letter: DeadLetter) -> Result<(), StoreError> {
        self.inner.bury(letter).await
    }

    async fn dead(
        &self,
        after: Option<DeadId>,
        limit: usize,
    ) -> Result<Vec<(DeadId, DeadLetter)>, StoreError> {
        self.inner.dead(after, limit).await
    }

    async fn take_dead(&self, ids: &[DeadId]) -> Result<u64, StoreError> {
        self.inner.take_dead(ids).await
    }

    async fn forget_dead(&self, before: Instant) -> Result<u64, StoreError> {
        self.inner.forget_dead(before).await
    }

    async fn depth(&self, channel: &ChannelName) -> Result<Depth, StoreError> {
        self.inner.depth(channel).await
    }
}
