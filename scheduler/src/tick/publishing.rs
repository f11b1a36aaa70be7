//! Slots at their second.

mod one;
mod recording;
mod window;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant as RealInstant},
};

use domain::Instant;
use futures_util::{StreamExt, stream::FuturesUnordered};
use night_ledger::{Raised, StoreError};
use tokio::{sync::Semaphore, time::sleep};

use self::one::{Bounds, End, publish_plan};
use super::{Scheduler, Turn};
use crate::{first_error::FirstError, shards::Keeping};

/// How long one go may last: then the rest of the tick has its turn. What is due and not published is next.
const GO: Duration = Duration::from_millis(500);
/// Pause between two looks at the leases.
const LOOK: Duration = Duration::from_millis(100);

impl Scheduler {
    /// Publishes what is due at `now`, all seals side by side, and moves each checkpoint on when its batches are confirmed.
    /// A seal that fails holds up no other. The shards are kept meanwhile, however long the queue takes.
    pub(super) async fn publish(&mut self, now: Instant, turn: &mut Turn) -> Result<(), StoreError> {
        let (mut first, mut lost) = (FirstError::default(), Vec::new());
        let (ledger, queue) = (Arc::clone(&self.ledger), Arc::clone(&self.queue));
        let began = RealInstant::now();
        let latest = Mutex::new(0.0);
        let lag = self.metrics.slot_lag.clone();
        // while the queue takes nothing, too, it has to be seen how late it is
        let late = |due: Instant| {
            let since = (now - due).as_seconds_f64() + began.elapsed().as_secs_f64();
            let mut latest = latest.lock().unwrap_or_else(PoisonError::into_inner);
            *latest = f64::max(*latest, since);
            lag.set(*latest);
        };
        let due = |due: Option<Instant>| due.is_some_and(|due| due <= now);
        let plans: Vec<_> =
            self.plans.values_mut().filter(|p| p.publishable(now) && due(p.next_due())).collect();
        if !plans.is_empty() {
            let most = self.settings.publish_at_once.max(1);
            let places = Semaphore::new(most);
            let share = u32::try_from((most / plans.len()).max(1)).unwrap_or(u32::MAX);
            let bounds = Bounds { now, until: began + GO, at_once: share };
            let going =
                plans.into_iter().map(|plan| publish_plan(plan, &*queue, &*ledger, &places, &bounds, &late));
            let mut going: FuturesUnordered<_> = going.collect();
            let mut keeping = Keeping::new(&mut self.shards, &*ledger);
            loop {
                // a seal that is done for this go; leases that were kept; another look at them
                tokio::select! {
                    end = going.next() => match end {
                        Some(End { key, published, outcome }) => {
                            turn.ticked.published += published;
                            self.metrics.published.inc_by(published);
                            if let Some(Raised::Outbid(held)) = first.note(outcome) {
                                lost.push((key.night, key.shard, held));
                            }
                        }
                        None => break,
                    },
                    Some(kept) = keeping.end() => {
                        first.note(kept);
                    }
                    () = sleep(LOOK) => keeping.look(),
                }
            }
            if let Some(kept) = keeping.end().await {
                first.note(kept);
            }
        }
        // what was lost is published by the other, or by us when it comes back
        turn.ticked.publishing = !lost.is_empty() || self.plans.values().any(|plan| plan.publishing(now));
        for (night, shard, held) in lost {
            self.give_up(&night, shard, held);
        }
        first.end()
    }

    /// Whether a batch is due at `now`.
    pub(super) fn slot_due(&self, now: Instant) -> bool {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        self.plans.values().any(|plan| plan.publishable(now) && due(plan.next_due()))
    }
}
