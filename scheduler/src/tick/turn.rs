use std::{
    pin::pin,
    time::{Duration, Instant as RealInstant},
};

use chrono::TimeDelta;
use domain::Instant;
use night_ledger::StoreError;
use tokio::time::sleep;

use super::{Scheduler, Ticked};
use crate::first_error::FirstError;

/// One tick: what it was told, and what has come of it so far.
pub(super) struct Turn {
    pub(super) now: Instant,
    pub(super) began: RealInstant,
    pub(super) ticked: Ticked,
    /// Whether the column was refreshed in this tick.
    pub(super) fresh: bool,
    first: FirstError,
}

/// Pause between two looks at what comes due while something takes long.
const LOOK: Duration = Duration::from_millis(100);

impl Turn {
    pub(super) fn new(now: Instant) -> Self {
        let (began, first) = (RealInstant::now(), FirstError::default());
        Self { now, began, ticked: Ticked::default(), fresh: false, first }
    }

    /// Logical time as it is by now.
    pub(super) fn by_now(&self) -> Instant {
        let elapsed = TimeDelta::from_std(self.began.elapsed()).unwrap_or_default();
        self.now.checked_add_signed(elapsed).unwrap_or(self.now)
    }

    /// Notes the end of a part of the tick.
    pub(super) fn note<T>(&mut self, end: Result<T, StoreError>) -> Option<T> {
        self.first.note(end)
    }

    /// The end of the tick.
    pub(super) fn end(self) -> Result<Ticked, StoreError> {
        self.first.end().map(|()| self.ticked)
    }
}

impl Scheduler {
    /// Waits for something that may take long. Meanwhile the shards are kept, and what comes due is published; both go on
    /// side by side, since each may hold a connection or a lock that the other waits for.
    pub(super) async fn meanwhile<T>(&mut self, turn: &mut Turn, long: impl Future<Output = T>) -> T {
        let mut long = pin!(long);
        loop {
            tokio::select! {
                biased;
                end = &mut long => return end,
                () = sleep(LOOK) => {}
            }
            let mut attending = pin!(self.attend(turn));
            tokio::select! {
                biased;
                end = &mut long => {
                    attending.await;
                    return end;
                }
                () = &mut attending => {}
            }
        }
    }

    /// Keeps the shards and publishes what is due, if it is time for either.
    pub(super) async fn attend(&mut self, turn: &mut Turn) {
        if self.shards.keep_due() {
            let kept = self.shards.keep(&*self.ledger).await;
            turn.note(kept);
        }
        let now = turn.by_now();
        if self.slot_due(now) {
            let published = self.publish(now, turn).await;
            turn.note(published);
        }
    }
}
