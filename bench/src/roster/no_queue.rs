use std::time::Duration;

use async_trait::async_trait;
use domain::{ChannelName, Instant};
use job_queue::{Batch, Consumer, DeadId, DeadLetter, Depth, JobQueue, StoreError};

/// A queue that takes nothing and holds nothing: for a scheduler that only seals.
pub(super) struct NoQueue;

fn refused<T>() -> Result<T, StoreError> {
    Err(StoreError::Unavailable("this queue takes nothing".to_owned()))
}

#[async_trait]
impl JobQueue for NoQueue {
    async fn publish(&self, _: &[Batch]) -> Result<(), StoreError> {
        refused()
    }

    async fn delay(&self, _: &Batch, _: Duration) -> Result<(), StoreError> {
        refused()
    }

    async fn consume(&self, _: &ChannelName, _: usize) -> Result<Box<dyn Consumer>, StoreError> {
        refused()
    }

    async fn bury(&self, _: DeadLetter) -> Result<(), StoreError> {
        refused()
    }

    async fn dead(&self, _: Option<DeadId>, _: usize) -> Result<Vec<(DeadId, DeadLetter)>, StoreError> {
        Ok(Vec::new())
    }

    async fn take_dead(&self, _: &[DeadId]) -> Result<u64, StoreError> {
        Ok(0)
    }

    async fn forget_dead(&self, _: Instant) -> Result<u64, StoreError> {
        Ok(0)
    }

    async fn depth(&self, _: &ChannelName) -> Result<Depth, StoreError> {
        Ok(Depth::default())
    }
}
