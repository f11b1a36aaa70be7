//! Slots at their second.

use std::time::Instant as RealInstant;

use domain::Instant;
use night_ledger::{Raised, StoreError};

use super::{Scheduler, Ticked, by_now};
use crate::first_error::FirstError;

impl Scheduler {
    /// Publishes what is due, and moves the checkpoint on when it is confirmed. A seal that fails holds up no other.
    pub(super) async fn publish(
        &mut self,
        now: Instant,
        began: RealInstant,
        ticked: &mut Ticked,
    ) -> Result<(), StoreError> {
        let (mut left, mut latest) = (self.settings.publish_at_once, 0.0);
        let (mut first, mut lost) = (FirstError::default(), Vec::new());
        for plan in self.plans.values_mut().filter(|plan| plan.publishable(now)) {
            let Some(due) = plan.next_due().filter(|due| *due <= now) else { continue };
            // before as well: while the queue takes nothing, it has to be seen how late it is
            let mut late = || {
                latest = f64::max(latest, (by_now(now, began) - due).as_seconds_f64());
                self.metrics.slot_lag.set(latest);
            };
            late();
            let (batches, upto) = plan.due(now, left);
            if upto > plan.confirmed {
                if first.note(self.queue.publish(&batches).await).is_none() {
                    continue;
                }
                late();
                let raised = self.ledger.checkpoint(&plan.key, plan.epoch, upto).await;
                match first.note(raised) {
                    Some(Raised::Yes) => {}
                    Some(Raised::Outbid(held)) => {
                        tracing::warn!(seal = %plan.key, epoch = plan.epoch, held, "the shard went to another scheduler");
                        lost.push((plan.key.night.clone(), plan.key.shard));
                        continue;
                    }
                    None => continue,
                }
                plan.confirmed = upto;
                left = left.saturating_sub(batches.len());
                ticked.published += batches.len() as u64;
                self.metrics.published.inc_by(batches.len() as u64);
            }
        }
        // what was lost is published by the other, or by us when it comes back
        ticked.publishing = !lost.is_empty() || self.plans.values().any(|plan| plan.publishing(now));
        for (night, shard) in lost {
            self.give_up(&night, shard);
        }
        first.end()
    }

    /// Whether a batch is due at `now`.
    pub(super) fn slot_due(&self, now: Instant) -> bool {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        self.plans.values().any(|plan| plan.publishable(now) && due(plan.next_due()))
    }
}
