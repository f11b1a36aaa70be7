use std::time::Instant as RealInstant;

use domain::{Instant, SealKey};
use job_queue::JobQueue;
use night_ledger::{NightLedger, Raised, StoreError};
use tokio::sync::Semaphore;

use crate::plan::Plan;

/// How far one go of publishing goes.
pub(super) struct Bounds {
    /// What is due at this time.
    pub(super) now: Instant,
    /// Nothing is begun after this.
    pub(super) until: RealInstant,
    /// Batches of one seal that are handed to the queue at once.
    pub(super) at_once: usize,
}

/// How one seal came out of it.
pub(super) struct End {
    pub(super) key: SealKey,
    /// Batches confirmed and recorded.
    pub(super) published: u64,
    /// Whether the shard is still ours.
    pub(super) outcome: Result<bool, StoreError>,
}

/// Publishes what of a seal is due, in order, and moves its checkpoint on each time the queue has confirmed. Each batch on
/// its way takes one of `places`. `late` is told when the first unpublished batch was due.
pub(super) async fn publish_plan(
    plan: &mut Plan,
    queue: &dyn JobQueue,
    ledger: &dyn NightLedger,
    places: &Semaphore,
    bounds: &Bounds,
    late: &impl Fn(Instant),
) -> End {
    let mut published = 0;
    let outcome = loop {
        let due = plan.next_due().filter(|due| *due <= bounds.now);
        let Some(due) = due.filter(|_| published == 0 || RealInstant::now() < bounds.until) else {
            break Ok(true);
        };
        late(due);
        let wanted = u32::try_from(bounds.at_once).unwrap_or(u32::MAX);
        // never closed
        let Ok(_places) = places.acquire_many(wanted).await else { break Ok(true) };
        let (batches, upto) = plan.due(bounds.now, bounds.at_once);
        if let Err(error) = queue.publish(&batches).await {
            break Err(error);
        }
        late(due);
        match ledger.checkpoint(&plan.key, plan.epoch, upto).await {
            Ok(Raised::Yes) => {}
            Ok(Raised::Outbid(held)) => {
                tracing::warn!(seal = %plan.key, epoch = plan.epoch, held, "the shard went to another scheduler");
                break Ok(false);
            }
            Err(error) => break Err(error),
        }
        plan.confirm(upto);
        published += batches.len() as u64;
    };
    End { key: plan.key.clone(), published, outcome }
}
