use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt, TryStreamExt, stream};
use job_queue::{Feed, FeedMessage};
use step_store::{PARTS, StepStore, StoreError};
use tokio_util::sync::CancellationToken;

/// Between two looks at the outboxes: while there was something, and while there was nothing.
const BUSY: Duration = Duration::from_millis(50);
const IDLE: Duration = Duration::from_millis(200);
/// Term of the lease on posting: when its owner dies, another goes on after so long.
const TERM: Duration = Duration::from_secs(3);
/// Wait after a fault.
const FAULT: Duration = Duration::from_millis(500);
/// Outboxes that are read, and told what was posted, at a time.
const AT_ONCE: usize = 16;

/// Hands what the step store's outboxes hold to the change feed. Killed anywhere, nothing is lost: what was published and not said
/// to be is published again, and readers know it by its numbers.
pub struct Publisher {
    steps: Arc<dyn StepStore>,
    feed: Arc<dyn Feed>,
    owner: u64,
}

/// Publishes until `stop`.
pub async fn publish(publisher: Publisher, stop: CancellationToken) {
    loop {
        let wait = match publisher.step().await {
            Ok(true) => BUSY,
            Ok(false) => IDLE,
            Err(error) => {
                tracing::warn!(%error, "changes could not be published; they wait in the outbox");
                FAULT
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = stop.cancelled() => return,
        }
    }
}

impl Publisher {
    /// One over these; `owner` is drawn at the start of the process.
    pub fn new(steps: Arc<dyn StepStore>, feed: Arc<dyn Feed>, owner: u64) -> Self {
        Self { steps, feed, owner }
    }

    /// Publishes what all outboxes hold now, unless another process does so. Answers whether there was something.
    pub async fn step(&self) -> Result<bool, StoreError> {
        if !self.steps.may_post(self.owner, TERM).await? {
            return Ok(false);
        }
        let published: Vec<bool> = stream::iter(0..PARTS)
            .map(|part| self.part(part))
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await?;
        Ok(published.contains(&true))
    }

    /// One part: read, publish with confirms, and only then forget.
    async fn part(&self, part: u32) -> Result<bool, StoreError> {
        let outbox = self.steps.outbox(part).await?;
        let count = outbox.postings.len() as u64;
        if count == 0 {
            return Ok(false);
        }
        let postings = outbox.postings.iter().map(|posting| posting.bytes().clone());
        self.feed.publish(&FeedMessage::cut(part, outbox.first, postings)).await?;
        self.steps.posted(part, outbox.first + count - 1).await?;
        Ok(true)
    }
}
