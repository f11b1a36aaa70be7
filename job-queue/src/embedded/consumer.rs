use std::sync::Arc;

use async_trait::async_trait;
use domain::ChannelName;
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use super::{
    channel::{Found, Item},
    rows,
    shared::Shared,
};
use crate::{Acker, Consumer, Delivery, StoreError};

/// The highest prefetch, as in AMQP, where it has 16 bits.
const MOST: usize = 65_535;

/// Takes a channel's messages in their order.
pub(super) struct EmbeddedConsumer {
    shared: Arc<Shared>,
    channel: ChannelName,
    wake: Arc<Notify>,
    permits: Arc<Semaphore>,
}

/// A message that was taken. It goes back unless it is settled, whatever becomes of the task that has it.
struct Held {
    shared: Arc<Shared>,
    channel: ChannelName,
    turn: u64,
    item: Item,
    settled: bool,
    _permit: OwnedSemaphorePermit,
}

impl EmbeddedConsumer {
    pub(super) fn new(
        shared: Arc<Shared>,
        channel: &ChannelName,
        prefetch: usize,
    ) -> Result<Self, StoreError> {
        let wake = shared.with(channel, |c| c.wake())?;
        let permits = Arc::new(Semaphore::new(prefetch.clamp(1, MOST)));
        Ok(Self { shared, channel: channel.clone(), wake, permits })
    }

    /// Waits for a message. Nothing is awaited once one is taken, so that a caller may stop waiting at any time.
    async fn hold(&self, permit: OwnedSemaphorePermit) -> Held {
        loop {
            // made before the look, so that what comes in after it is not slept through
            let woken = self.wake.notified();
            let found = self.shared.look(&self.channel, |c| c.take(Instant::now()));
            match found.unwrap_or(Found::Nothing(None)) {
                Found::Item(turn, item) => {
                    let (shared, channel) = (Arc::clone(&self.shared), self.channel.clone());
                    return Held { shared, channel, turn, item, settled: false, _permit: permit };
                }
                // run out or woken, the next look tells
                Found::Nothing(Some(due)) => drop(timeout_at(due, woken).await),
                Found::Nothing(None) => woken.await,
            }
        }
    }
}

#[async_trait]
impl Consumer for EmbeddedConsumer {
    async fn next(&mut self) -> Result<Delivery, StoreError> {
        loop {
            let permit = Arc::clone(&self.permits).acquire_owned().await;
            let permit = permit.map_err(|e| StoreError::Unavailable(e.to_string()))?;
            let held = self.hold(permit).await;
            match rows::bytes(&self.shared.file, held.item.place)? {
                Some(bytes) => {
                    return Ok(Delivery { bytes, redelivered: held.item.redelivered, acker: Box::new(held) });
                }
                // an acknowledgement that was said to have failed had reached the disk after all
                None => held.settle(),
            }
        }
    }
}

#[async_trait]
impl Acker for Held {
    async fn ack(self: Box<Self>) -> Result<(), StoreError> {
        let (shared, place) = (Arc::clone(&self.shared), self.item.place);
        // when the write fails, the message is dropped with the closure, and so goes back
        shared.write(move |to| rows::remove(to, place), move |_, ()| self.settle()).await
    }
}

impl Held {
    fn settle(mut self) {
        self.settled = true;
        self.shared.look(&self.channel, |c| c.settle(self.item));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.settled {
            self.shared.look(&self.channel, |c| c.give_back(self.turn, self.item));
        }
    }
}
