use std::time::Instant as RealInstant;

use domain::{Instant, SealKey};
use job_queue::JobQueue;
use night_ledger::{NightLedger, Raised, StoreError};
use tokio::sync::Semaphore;

use super::{recording::Recording, window::Window};
use crate::plan::Plan;

/// Groups of one seal that are on their way at a time: while the first is confirmed, the others are on theirs.
const GROUPS: u32 = 2;

/// How far one go of publishing goes.
pub(super) struct Bounds {
    /// What is due at this time.
    pub(super) now: Instant,
    /// Nothing is begun after this.
    pub(super) until: RealInstant,
    /// Batches of one seal that are on their way to the queue at once.
    pub(super) at_once: u32,
}

impl Bounds {
    /// Batches of one group.
    fn group(&self) -> u32 {
        (self.at_once / GROUPS).max(1)
    }

    /// How many batches of one seal may be published and not recorded, two at least: as many are published again after a
    /// crash.
    fn unrecorded(&self) -> u32 {
        self.at_once.saturating_mul(2)
    }
}

/// How one seal came out of it.
pub(super) struct End {
    pub(super) key: SealKey,
    /// Batches confirmed by the queue.
    pub(super) published: u64,
    /// Whether the shard is still ours.
    pub(super) outcome: Result<Raised, StoreError>,
}

/// Publishes what of a seal is due, in order and several groups at a time, and moves its checkpoint on beside that: neither
/// waits for the other, within bounds. Each batch on its way takes one of `places`. `late` is told when the first
/// unpublished batch was due.
pub(super) async fn publish_plan(
    plan: &mut Plan,
    queue: &dyn JobQueue,
    ledger: &dyn NightLedger,
    places: &Semaphore,
    bounds: &Bounds,
    late: &impl Fn(Instant),
) -> End {
    let is_late = |plan: &Plan| {
        if let Some(due) = plan.next_slot().filter(|due| *due <= bounds.now) {
            late(due);
        }
    };
    // what is in the queue is not put there again, however long the ledger does not take the checkpoint
    let (begun, mut window, mut recording) =
        (plan.queued, Window::new(queue, plan.queued), Recording::new(ledger));
    let (mut published, mut in_queue, mut recorded) = (0, Ok(()), held_back(plan));
    loop {
        is_late(plan);
        let unrecorded = plan.queued.saturating_sub(plan.confirmed);
        let enough = unrecorded >= bounds.at_once.div_ceil(2) || window.under_way() == 0;
        if matches!(recorded, Ok(Raised::Yes)) && unrecorded > 0 && enough && !recording.under_way() {
            recording.begin(plan);
        }
        // something is begun in each go
        let first = window.next() == begun;
        // what is behind a checkpoint that failed waits
        let more = in_queue.is_ok()
            && matches!(recorded, Ok(Raised::Yes))
            && plan.held_back.is_none()
            && window.under_way() < GROUPS.min(bounds.at_once)
            && window.next().saturating_sub(plan.confirmed)
                <= bounds.unrecorded().saturating_sub(bounds.group())
            && plan.due_of(window.next()).is_some_and(|due| due <= bounds.now)
            && (first || RealInstant::now() < bounds.until);
        tokio::select! {
            biased;
            // a checkpoint that ended
            end = recording.end(plan), if recording.under_way() => recorded = end,
            // a group that ended, the foremost
            Some(end) = window.front(), if window.under_way() > 0 => match end {
                Ok(group) if in_queue.is_ok() => {
                    is_late(plan);
                    plan.queued = group.upto;
                    published += group.batches;
                }
                // behind one that failed
                Ok(_) => {}
                Err(error) => in_queue = std::mem::replace(&mut in_queue, Ok(())).and(Err(error)),
            },
            // room for the next group; never closed
            Ok(room) = places.acquire_many(bounds.group()), if more => if first || RealInstant::now() < bounds.until {
                window.begin(plan, bounds.now, room);
            },
            else => break,
        }
    }
    let outcome = match recorded {
        Ok(Raised::Yes) => in_queue.map(|()| Raised::Yes),
        other => other,
    };
    End { key: plan.key.clone(), published, outcome }
}

/// The error of a checkpoint that is not to be tried again yet.
fn held_back(plan: &Plan) -> Result<Raised, StoreError> {
    let waits = plan.held_back.as_ref().and_then(|held| held.waits(RealInstant::now()));
    waits.map_or(Ok(Raised::Yes), |error| Err(error.clone()))
}
