use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use config::{Config, Queue, Stores};
use directory::{ApiKeys, Directory, EmbeddedApiKeys, EmbeddedDirectory, RedisApiKeys, RedisDirectory};
use futures_util::FutureExt;
use job_queue::{EmbeddedFeed, EmbeddedQueue, Feed, JobQueue, Ladder, Limits, RabbitFeed, RabbitQueue};
use night_ledger::{EmbeddedLedger, NightLedger, RedisLedger};
use plumbing::{CheckError, Checked, File, Redis};
use step_store::{EmbeddedSteps, RedisSteps, StepStore};

use super::{Check, Found};

/// The stores and the queue, opened.
pub(super) struct Opened {
    pub(super) directory: Arc<dyn Directory>,
    pub(super) keys: Arc<dyn ApiKeys>,
    pub(super) steps: Arc<dyn StepStore>,
    pub(super) queue: Arc<dyn JobQueue>,
    pub(super) feed: Arc<dyn Feed>,
    pub(super) ledger: Arc<dyn NightLedger>,
    /// How those that are shared are asked whether they are set up as they should be.
    pub(super) check: Option<Check>,
}

/// All of them in one file.
pub(super) async fn embedded(file: &Arc<File>, ladder: Ladder) -> anyhow::Result<Opened> {
    Ok(Opened {
        directory: Arc::new(EmbeddedDirectory::open(Arc::clone(file))?),
        keys: Arc::new(EmbeddedApiKeys::new(Arc::clone(file))),
        steps: Arc::new(EmbeddedSteps::open(Arc::clone(file))?),
        queue: EmbeddedQueue::open(Arc::clone(file), ladder, Limits::default())?,
        feed: Arc::new(EmbeddedFeed::new()),
        ledger: Arc::new(EmbeddedLedger::open(Arc::clone(file)).await?),
        check: None,
    })
}

/// Those that the configuration names. Nothing is asked of them yet.
pub(super) fn shared(config: &Config, ladder: Ladder) -> anyhow::Result<Opened> {
    let (Stores::Redis(stores), Queue::RabbitMq(queue)) = (&config.stores, &config.queue) else {
        bail!("stores.kind and queue.kind: both are embedded, or neither is");
    };
    let redis = Redis::new(stores).map_err(|faults| anyhow!("stores: {}", faults.join("; ")))?;
    Ok(Opened {
        directory: Arc::new(RedisDirectory::new(redis.clone())),
        keys: Arc::new(RedisApiKeys::new(redis.clone())),
        steps: Arc::new(RedisSteps::new(redis.clone())),
        queue: RabbitQueue::open(queue, ladder).context("queue")?,
        feed: Arc::new(RabbitFeed::open(queue).context("queue")?),
        ledger: Arc::new(RedisLedger::new(redis.clone())),
        check: Some(Box::new(move || {
            let redis = redis.clone();
            async move { found(redis.check().await) }.boxed()
        })),
    })
}

fn found(checked: Result<Checked, CheckError>) -> Found {
    match checked {
        Ok(checked) => Found::Sound(checked.warnings),
        Err(error @ CheckError::Away(_)) => Found::Away(error.to_string()),
        Err(error @ CheckError::Refused(_)) => Found::Refused(error.to_string()),
    }
}
