//! What of a batch is not to be worked here and now goes on in batches of its own, at the same attempt.

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use domain::Instant;
use job_queue::BatchEntry;
use night_ledger::{Brake, Brakes, Stepped, StoreError};

use super::{
    LONGEST_HELD,
    chunks::{End, Work},
};
use crate::{children::Apart, chunk::zone_of};

/// How long what is paused waits until it is looked at again.
const PAUSED: Duration = Duration::from_secs(5);
/// A batch is not cut into smaller ones than this.
const FEWEST: u32 = 10;

impl Work<'_> {
    /// Takes out of `rest` who is in a zone that is paused, and what is too long to be worked in one go, and puts them into
    /// the queue on their own. It is recorded first: whatever happens between, nobody is lost, and a claim keeps one who is
    /// in two batches from a second push. Answers an end where there is nothing to work.
    pub(super) async fn set_apart(&mut self, rest: &mut Vec<BatchEntry>) -> Result<Option<End>, StoreError> {
        if self.over {
            return Ok(None);
        }
        let now = self.parts.clock.now();
        let brakes = self.brakes().await?;
        if let Some(end) = self.without_paused(rest, &brakes, now) {
            return Ok(Some(end));
        }
        let most = self.most_at_once();
        if rest.len() > most {
            let more = rest.split_off(most);
            self.aside.extend(more.chunks(most).map(|part| Apart::new(None, part.iter().copied())));
        }
        if self.aside.is_empty() {
            return Ok(None);
        }
        // without a lease yet: nothing is claimed
        match self.step(Vec::new(), Vec::new(), Duration::ZERO, now).await? {
            Stepped::Done(_) => self.publish_left().await.map(|()| None),
            Stepped::Held(left) => Ok(Some(End::Wait(left))),
            Stepped::NoSeal => Ok(Some(End::NoSeal)),
        }
    }

    /// Takes out of `rest` who is in a zone that is paused and inside its deadline, to be recorded with the next step. Where
    /// that is everybody, the batch waits as it is.
    pub(super) fn without_paused(
        &mut self,
        rest: &mut Vec<BatchEntry>,
        brakes: &Brakes,
        now: Instant,
    ) -> Option<End> {
        if brakes.is_empty() {
            return None;
        }
        let batch = self.batch;
        let paused =
            |e: &BatchEntry| brakes.on(zone_of(batch, e)) == Some(Brake::Paused) && now < batch.deadline(e);
        let (out, on): (Vec<_>, Vec<_>) = rest.drain(..).partition(paused);
        *rest = on;
        if rest.is_empty() {
            return Some(End::Wait(PAUSED));
        }
        if !out.is_empty() {
            let wait = TimeDelta::from_std(PAUSED).ok();
            let not_before = wait.and_then(|wait| Utc::now().checked_add_signed(wait));
            self.aside.push(Apart::new(not_before, out));
        }
        None
    }

    /// How many users a batch may have to be worked in time at the channel's rate, of which all batches in work have their
    /// part.
    fn most_at_once(&self) -> usize {
        let Some(rate) = self.line.limits.rate() else { return usize::MAX };
        let batches = u32::try_from(self.parts.settings.batches_at_once).unwrap_or(u32::MAX);
        let users = rate * LONGEST_HELD.as_secs_f64() / f64::from(batches.max(1));
        let whole = u32::try_from(job_queue::MOST_UIDS).unwrap_or(u32::MAX);
        let most = (FEWEST..=whole).rev().find(|&n| f64::from(n) <= users).unwrap_or(FEWEST);
        usize::try_from(most).unwrap_or(usize::MAX)
    }
}
