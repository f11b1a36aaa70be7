//! What is old is forgotten, beside the ticks: it may take longer than a lease or a slot can wait.

use std::sync::Arc;

use chrono::TimeDelta;
use domain::{Day, Instant};
use night_ledger::{NightLedger, Owner, StoreError};
use tokio::task::JoinSet;

use super::Scheduler;
use crate::{agenda, first_error::FirstError};

/// From one time to the next.
const EVERY: TimeDelta = TimeDelta::hours(1);
/// The first time is so long after the start at most, each owner's another, so that they do not all come at once.
const SPREAD: u64 = 15 * 60;
/// From one that failed to the next.
const RETRY: TimeDelta = TimeDelta::minutes(5);
/// It is not begun while a slot is due within this,
const CLEAR: TimeDelta = TimeDelta::minutes(1);
/// unless it has waited for so long: windows may follow each other around the clock.
const LONGEST: TimeDelta = TimeDelta::hours(6);

/// One forgetting at a time, and when the next one begins.
pub(super) struct Forgetting {
    first: TimeDelta,
    next: Option<Instant>,
    /// Nights before this day are being forgotten.
    before: Option<Day>,
    /// At most one; ended with the scheduler.
    going: JoinSet<Result<(), StoreError>>,
}

impl Forgetting {
    pub(super) fn of(owner: Owner) -> Self {
        let first = TimeDelta::seconds(i64::try_from(owner.0 % SPREAD).unwrap_or_default());
        Self { first, next: None, before: None, going: JoinSet::new() }
    }

    /// Whether a night of this day may be half gone.
    pub(super) fn covers(&self, day: Day) -> bool {
        self.before.is_some_and(|before| day < before)
    }

    /// Whether it is time at `now`, `busy` where a slot is due soon.
    fn due(&mut self, now: Instant, busy: bool) -> bool {
        // set back, a clock does not put it off for longer than ever
        let next = self.next.filter(|next| *next - now <= EVERY);
        let next = *self.next.insert(next.unwrap_or_else(|| later(now, self.first)));
        next <= now && self.going.is_empty() && !(busy && now - next < LONGEST)
    }
}

impl Scheduler {
    /// Begins to forget nights and dead letters older than 14 days, once an hour, and notes how the last time ended.
    pub(super) fn forget(&mut self, now: Instant) -> Result<(), StoreError> {
        let mut first = FirstError::default();
        if let Some(end) = self.forgetting.going.try_join_next() {
            let end =
                end.unwrap_or_else(|fault| Err(StoreError::Unavailable(format!("forgetting: {fault}"))));
            if first.note(end).is_none() {
                self.forgetting.next = Some(later(now, RETRY));
            }
            if let Some(before) = self.forgetting.before.take() {
                self.forget_here(before);
            }
        }
        let soon = later(now, CLEAR);
        let busy = self.slot_due(soon);
        if self.ends_by_itself || !self.forgetting.due(now, busy) {
            return first.end();
        }
        self.forgetting.next = Some(later(now, EVERY));
        self.forgetting.before = oldest(now);
        let (ledger, queue) = (Arc::clone(&self.ledger), Arc::clone(&self.queue));
        self.forgetting.going.spawn(async move {
            let mut first = FirstError::default();
            first.note(forget_nights(&*ledger, now).await);
            first.note(queue.forget_dead(agenda::earliest(now)).await);
            first.end()
        });
        first.end()
    }

    /// Forgets nights older than 14 days here and now, and no dead letters: for a run that has nothing else to do any more.
    pub(crate) async fn forget_nights(&self, now: Instant) -> Result<(), StoreError> {
        forget_nights(&*self.ledger, now).await
    }

    fn forget_here(&mut self, day: Day) {
        self.sealed.retain(|(night, ..)| night.day >= day);
        self.settled.retain(|(night, _)| night.day >= day);
        self.held_back.retain(|(night, _), _| night.day >= day);
        self.loaded.retain(|(night, _), _| night.day >= day);
    }
}

async fn forget_nights(ledger: &dyn NightLedger, now: Instant) -> Result<(), StoreError> {
    let Some(day) = oldest(now) else { return Ok(()) };
    ledger.forget(day).await.map(drop)
}

/// The oldest day that is kept. Two days more than are looked for: the first day of the range is still some zone's.
fn oldest(now: Instant) -> Option<Day> {
    let before = now.checked_sub_signed(TimeDelta::days(agenda::DAYS_BACK + 2))?;
    Day::of(before.date_naive())
}

fn later(now: Instant, by: TimeDelta) -> Instant {
    now.checked_add_signed(by).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_spread_and_never_in_the_way_of_a_slot() {
        let now: Instant = "2026-05-10T12:00:00Z".parse().unwrap();
        let mut forgetting = Forgetting::of(Owner(SPREAD * 7 + 60));
        assert!(!forgetting.due(now, false), "the first is spread by owner");
        let first = now + TimeDelta::minutes(1);
        assert!(forgetting.due(first, false));
        assert!(!forgetting.due(first, true) && !forgetting.due(first + LONGEST - CLEAR, true));
        assert!(forgetting.due(first + LONGEST, true), "it is not put off for ever");
        forgetting.next = Some(now + EVERY);
        assert!(!forgetting.due(now + EVERY - CLEAR, false) && forgetting.due(now + EVERY, false));
        // the clock was a year ahead
        let back = now - TimeDelta::days(365);
        assert!(!forgetting.due(back, false) && forgetting.due(back + CLEAR, false));
    }
}
