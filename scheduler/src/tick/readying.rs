use std::collections::BTreeSet;

use chrono::TimeDelta;
use domain::{ChannelName, Instant};
use night_ledger::StoreError;
use tokio::task::JoinSet;

use super::Scheduler;

/// How long before a seal fires the queue is made ready for it.
const AHEAD: TimeDelta = TimeDelta::minutes(1);

/// Making the queue ready, beside the ticks: at most one at a time, ended with the scheduler.
pub(super) type Readying = JoinSet<Result<(), StoreError>>;

impl Scheduler {
    /// Has the queue made ready for the seals that fire soon: at the hour there is only publishing to do. A queue that
    /// cannot be made ready is no fault of the tick: what is published to it will tell.
    pub(super) fn make_ready(&mut self, now: Instant) {
        match self.readying.try_join_next() {
            Some(Ok(Err(error))) => tracing::debug!(%error, "the queue is not ready for what fires soon"),
            Some(Err(fault)) => tracing::warn!(%fault, "making the queue ready"),
            Some(Ok(Ok(()))) | None => {}
        }
        let soon = self.plans.values().filter(|plan| {
            plan.publishable(now) && plan.key.instant > now && plan.key.instant - now <= AHEAD
        });
        let channels: BTreeSet<ChannelName> = soon.flat_map(|plan| plan.channels()).cloned().collect();
        if channels.is_empty() || !self.readying.is_empty() {
            return;
        }
        let (queue, channels) = (self.queue.clone(), channels.into_iter().collect::<Vec<_>>());
        self.readying.spawn(async move { queue.make_ready(&channels).await });
    }
}
