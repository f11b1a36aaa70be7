use std::{collections::BTreeSet, time::Duration};

use chrono::TimeDelta;
use domain::ChannelName;
use tokio::time::timeout;

use super::{Scheduler, Turn};

/// How long before a seal fires the queue is made ready for it.
const AHEAD: TimeDelta = TimeDelta::minutes(1);
/// The longest that a tick waits for that.
const LIMIT: Duration = Duration::from_secs(1);

impl Scheduler {
    /// Makes the queue ready for the seals that fire soon: at the hour there is only publishing to do. A queue that cannot
    /// be made ready is no fault of the tick: what is published to it will tell.
    pub(super) async fn make_ready(&mut self, turn: &mut Turn) {
        let now = turn.by_now();
        let soon = self.plans.values().filter(|plan| {
            plan.publishable(now) && plan.key.instant > now && plan.key.instant - now <= AHEAD
        });
        let channels: BTreeSet<ChannelName> = soon.flat_map(|plan| plan.channels()).cloned().collect();
        if channels.is_empty() {
            return;
        }
        let (queue, channels) = (self.queue.clone(), channels.into_iter().collect::<Vec<_>>());
        let ready = timeout(LIMIT, async move { queue.make_ready(&channels).await });
        match self.meanwhile(turn, ready).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "the queue is not ready for what fires soon"),
            Err(_) => tracing::debug!("the queue is not ready in time for what fires soon"),
        }
    }
}
