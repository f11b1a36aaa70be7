//! The stores of the program over a bench's own servers.

use std::{sync::Arc, time::Duration};

use anyhow::anyhow;
use job_queue::{JobQueue, Ladder, RabbitQueue};
use night_ledger::{NightLedger, RedisLedger};
use plumbing::{RedisSettings, Span, amqp::AmqpSettings};
use step_store::{RedisSteps, StepStore};

use crate::servers::{Durability, RabbitMq, Redis};

/// What every key and queue begins with.
const PREFIX: &str = "stepcast";

/// The ledger.
pub(crate) fn ledger(redis: &Redis, durability: Durability) -> anyhow::Result<Arc<dyn NightLedger>> {
    Ok(Arc::new(RedisLedger::new(access(redis, durability)?)))
}

/// The step store.
pub(crate) fn steps(redis: &Redis, durability: Durability) -> anyhow::Result<Arc<dyn StepStore>> {
    Ok(Arc::new(RedisSteps::new(access(redis, durability)?)))
}

/// The queue, with the ladder as it is by default.
pub(crate) fn queue(broker: &RabbitMq) -> anyhow::Result<Arc<dyn JobQueue>> {
    let steps = [1, 5, 30, 120, 600, 1_800].map(Duration::from_secs);
    Ok(RabbitQueue::open(&AmqpSettings::at(broker.url(), PREFIX), Ladder::new(steps.to_vec())?)?)
}

/// The name of the queue in which the batches of the channel `stub` are.
pub(crate) fn work_queue() -> String {
    format!("{PREFIX}.stub")
}

/// The program's access to a server.
pub(crate) fn access(redis: &Redis, durability: Durability) -> anyhow::Result<plumbing::Redis> {
    let settings = RedisSettings {
        durability: match durability {
            Durability::Wal => plumbing::Durability::Wal,
            Durability::Relaxed => plumbing::Durability::Relaxed,
            Durability::Memory => plumbing::Durability::Memory,
        },
        // what is written before the clock starts comes in large pieces
        timeout: Span(Duration::from_secs(30)),
        ..RedisSettings::at(vec![redis.url()], PREFIX)
    };
    plumbing::Redis::new(&settings).map_err(|faults| anyhow!("{}", faults.join("; ")))
}
