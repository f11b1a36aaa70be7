//! The end of a night: what is open past its deadline is closed.

use chrono::TimeDelta;
use domain::{Instant, SealKey};
use night_ledger::StoreError;

use super::{Scheduler, Turn};
use crate::first_error::FirstError;

/// How long after its deadline a seal with open users is left to the senders before it is closed.
pub(super) const GRACE: TimeDelta = TimeDelta::minutes(2);

impl Scheduler {
    /// Closes the seals that are past their deadline, of whatever campaign.
    pub(super) async fn close(&mut self, turn: &mut Turn) -> Result<(), StoreError> {
        let now = turn.now;
        let over: Vec<_> = self.plans.values().filter(|p| p.deadline <= now).map(|p| p.key.clone()).collect();
        let mut first = FirstError::default();
        for key in over {
            first.note(self.close_one(&key, now, turn).await);
            self.attend(turn).await;
        }
        first.end()
    }

    async fn close_one(&mut self, key: &SealKey, now: Instant, turn: &mut Turn) -> Result<(), StoreError> {
        let Some(plan) = self.plans.get(key) else { return Ok(()) };
        let progress = self.ledger.seals(&key.night, key.shard).await?;
        let progress = progress.iter().find(|(k, _)| k == key).map(|(_, p)| *p).unwrap_or_default();
        // the shard may have been another's meanwhile, who published more
        let published = plan.published_users(progress.batches);
        // batches in the queue are left to the senders, who expire what is too late by itself
        if progress.open > 0 && published > 0 && now - plan.deadline < GRACE {
            return Ok(());
        }
        let closed = self.ledger.close(key, published).await?;
        if closed.never_worked > 0 {
            tracing::error!(seal = %key, users = closed.never_worked, "published and never worked before the deadline");
        }
        if closed.missed > 0 {
            tracing::error!(seal = %key, users = closed.missed, "not published before the deadline: missed");
        }
        self.metrics.missed.inc_by(closed.missed);
        self.metrics.never_worked.inc_by(closed.never_worked);
        let ticked = &mut turn.ticked;
        ticked.closed.missed += closed.missed;
        ticked.closed.never_worked += closed.never_worked;
        ticked.closed.expired += closed.expired;
        ticked.closed.uncertain += closed.uncertain;
        self.plans.remove(key);
        Ok(())
    }
}
