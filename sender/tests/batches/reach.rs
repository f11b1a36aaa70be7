//! A sender that cannot reach the queue and can reach the ledger.

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use domain::{ChannelName, Instant};
use job_queue::{Batch, Consumer, DeadId, DeadLetter, Delivery, Depth, EmbeddedQueue, JobQueue, StoreError};
use sender::{Consuming, channel::Quota};
use tokio_util::sync::CancellationToken;

use crate::{
    away::until,
    rig::{Provider, Rig, settings, stub, user},
};

/// The embedded queue, to which consumers can be cut off.
struct Unreached {
    queue: Arc<EmbeddedQueue>,
    off: Arc<AtomicBool>,
}

struct Reader {
    inner: Box<dyn Consumer>,
    off: Arc<AtomicBool>,
}

#[async_trait]
impl Consumer for Reader {
    async fn next(&mut self) -> Result<Delivery, StoreError> {
        let cut = async {
            let mut ticks = tokio::time::interval(Duration::from_millis(10));
            while !self.off.load(Ordering::SeqCst) {
                ticks.tick().await;
            }
        };
        tokio::select! {
            () = cut => Err(StoreError::Unavailable("cut off".into())),
            delivery = self.inner.next() => delivery,
        }
    }
}

#[async_trait]
impl JobQueue for Unreached {
    async fn publish(&self, batches: &[Batch]) -> Result<(), StoreError> {
        self.queue.publish(batches).await
    }

    async fn delay(&self, batch: &Batch, wait: Duration) -> Result<(), StoreError> {
        self.queue.delay(batch, wait).await
    }

    async fn consume(&self, channel: &ChannelName, prefetch: usize) -> Result<Box<dyn Consumer>, StoreError> {
        if self.off.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("cut off".into()));
        }
        let inner = self.queue.consume(channel, prefetch).await?;
        Ok(Box::new(Reader { inner, off: Arc::clone(&self.off) }))
    }

    async fn bury(&self, letter: DeadLetter) -> Result<(), StoreError> {
        self.queue.bury(letter).await
    }

    async fn dead(
        &self,
        after: Option<DeadId>,
        limit: usize,
    ) -> Result<Vec<(DeadId, DeadLetter)>, StoreError> {
        self.queue.dead(after, limit).await
    }

    async fn take_dead(&self, ids: &[DeadId]) -> Result<u64, StoreError> {
        self.queue.take_dead(ids).await
    }

    async fn forget_dead(&self, before: Instant) -> Result<u64, StoreError> {
        self.queue.forget_dead(before).await
    }

    async fn depth(&self, channel: &ChannelName) -> Result<Depth, StoreError> {
        self.queue.depth(channel).await
    }
}

/// Who cannot use its share leaves it to others, and has it again when it can.
#[tokio::test]
async fn who_cannot_reach_the_queue_leaves_its_share_until_it_can() {
    let provider = Provider::new(|_, _| Ok(()));
    let quota = Quota { per_second: NonZeroU32::new(50), ..Quota::default() };
    let mut rig = Rig::new(&provider, settings(), &quota).await;
    let off = Arc::new(AtomicBool::new(false));
    let queue = Unreached { queue: Arc::clone(&rig.raw), off: Arc::clone(&off) };
    Arc::get_mut(&mut rig.parts).unwrap().queue = Arc::new(queue);
    let batch = rig.sealed((1..=5).map(user).collect(), |_| 5_000).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(sender::run(Arc::clone(&rig.parts), stop.clone()));
    let consuming = || rig.parts.metrics.consumers().get(&stub()).copied();
    until(async || consuming() == Some(Consuming::Attached)).await;

    off.store(true, Ordering::SeqCst);
    let alive = || rig.ledger.alive.lock().unwrap().contains(&rig.parts.owner.0);
    until(async || matches!(consuming(), Some(Consuming::Away(_)))).await;
    let line = &rig.parts.lines[&stub()];
    assert!(alive() && !line.limits.resting(), "a short while is waited for");
    until(async || !alive()).await;
    assert!(line.limits.resting() && matches!(consuming(), Some(Consuming::Away(_))), "it goes on trying");

    rig.raw.publish(std::slice::from_ref(&batch)).await.unwrap();
    off.store(false, Ordering::SeqCst);
    until(async || rig.sums().await.delivered == 5).await;
    assert!(alive());
    assert_eq!((consuming(), provider.count()), (Some(Consuming::Attached), 5));
    stop.cancel();
    running.await.unwrap();
    assert!(!alive());
}
