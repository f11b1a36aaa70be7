//! The end of a night: what is open past its deadline is closed, what is old is forgotten.

use chrono::TimeDelta;
use domain::{Day, Instant, SealKey};
use night_ledger::StoreError;

use super::{Scheduler, Turn};
use crate::{agenda, first_error::FirstError};

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
        let open = progress.iter().find(|(k, _)| k == key).map_or(0, |(_, p)| p.open);
        // batches in the queue are left to the senders, who expire what is too late by itself
        if open > 0 && plan.published_users() > 0 && now - plan.deadline < GRACE {
            return Ok(());
        }
        let closed = self.ledger.close(key, plan.published_users()).await?;
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

    /// Nights and dead letters older than 14 days go, once an hour is enough.
    pub(super) async fn forget(&mut self, now: Instant) -> Result<(), StoreError> {
        if self.forgotten.is_some_and(|at| now >= at && now - at < TimeDelta::hours(1)) {
            return Ok(());
        }
        let mut first = FirstError::default();
        // two days more: the first day of the range is still some zone's
        let back = now.checked_sub_signed(TimeDelta::days(agenda::DAYS_BACK + 2));
        if let Some(day) = back.and_then(|before| Day::of(before.date_naive())) {
            first.note(self.ledger.forget(day).await);
            self.sealed.retain(|(night, ..)| night.day >= day);
            self.settled.retain(|(night, _)| night.day >= day);
            self.held_back.retain(|(night, _), _| night.day >= day);
            self.loaded.retain(|(night, _), _| night.day >= day);
        }
        first.note(self.queue.forget_dead(agenda::earliest(now)).await);
        if first.none() {
            self.forgotten = Some(now);
        }
        first.end()
    }
}
