use std::time::Instant as RealInstant;

use domain::{Instant, SealKey};
use job_queue::JobQueue;
use night_ledger::{NightLedger, Raised, StoreError};
use tokio::sync::Semaphore;

use crate::{held_back::HeldBack, plan::Plan};

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
    /// Batches confirmed by the queue.
    pub(super) published: u64,
    /// Whether the shard is still ours.
    pub(super) outcome: Result<Raised, StoreError>,
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
        // what is in the queue is not put there again, however long the ledger does not take the checkpoint
        if plan.queued > plan.confirmed {
            // what is behind it waits
            if let Some(due) = plan.next_slot().filter(|due| *due <= bounds.now) {
                late(due);
            }
            match record(plan, ledger).await {
                Ok(Raised::Yes) => {}
                other => break other,
            }
        }
        let due = plan.next_due().filter(|due| *due <= bounds.now);
        let Some(due) = due.filter(|_| published == 0 || RealInstant::now() < bounds.until) else {
            break Ok(Raised::Yes);
        };
        late(due);
        let wanted = u32::try_from(bounds.at_once).unwrap_or(u32::MAX);
        // never closed
        let Ok(_places) = places.acquire_many(wanted).await else { break Ok(Raised::Yes) };
        let (batches, upto) = plan.due(bounds.now, bounds.at_once);
        if let Err(error) = queue.publish(&batches).await {
            break Err(error);
        }
        late(due);
        plan.queued = upto;
        published += batches.len() as u64;
    };
    End { key: plan.key.clone(), published, outcome }
}

/// Moves the checkpoint of a seal up to what is in the queue. One that failed is tried again after a while.
async fn record(plan: &mut Plan, ledger: &dyn NightLedger) -> Result<Raised, StoreError> {
    let held = plan.held_back.take();
    if let Some(error) = held.as_ref().and_then(|held| held.waits(RealInstant::now())).cloned() {
        plan.held_back = held;
        return Err(error);
    }
    let end = ledger.checkpoint(&plan.key, plan.epoch, plan.queued).await;
    match &end {
        Ok(Raised::Yes) => plan.confirm(plan.queued),
        Ok(Raised::Outbid(_)) => {}
        Err(error) => plan.held_back = Some(HeldBack::new(error.clone(), held.as_ref(), RealInstant::now())),
    }
    end
}
