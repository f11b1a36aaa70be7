//! Steps in the ledger, with outcomes that must not get lost.

use std::{collections::BTreeMap, time::Duration};

use domain::{Instant, Zone};
use night_ledger::{Outcome, Reason, Step, Stepped, StoreError};
use tokio::time::sleep;

use super::{LONGEST_HELD, chunks::Work};
use crate::{
    children::{Apart, pack},
    chunk::Worked,
    user_push::drop_gone,
};

/// How long outcomes are kept for a ledger that is away. What was pushed and is not booked would be pushed again; past this
/// the broker has given the delivery to another anyway.
const LONGEST: Duration = Duration::from_mins(10);
/// The same from when the sender is to stop.
const STOPPING: Duration = Duration::from_secs(5);
/// Wait before the second try of a step, doubled with each further one up to sixteen times.
const AGAIN: Duration = Duration::from_millis(125);

impl Work<'_> {
    /// Books outcomes and claims the next chunk. While the ledger is away it is tried again, the very same step by the same
    /// owner: one whose answer got lost ends the same the second time. That goes on for as long as outcomes are worth it; a
    /// claim alone, of which nothing was pushed yet, for as long as a delivery is worked on. Given up sooner, it would stand
    /// until its lease runs out and then pass for one that may have been pushed.
    pub(super) async fn step(
        &mut self,
        booked: Vec<Worked>,
        claim: Vec<(u32, Zone)>,
        term: Duration,
        at: Instant,
    ) -> Result<Stepped, StoreError> {
        let mut done = Vec::with_capacity(booked.len());
        let mut counts = BTreeMap::<_, u64>::new();
        let mut gone = Vec::new();
        let mut left = self.left.clone();
        let mut more = !self.aside.is_empty();
        left.apart(&self.aside);
        for worked in booked {
            *counts.entry(name(&worked.done.outcome)).or_default() += 1;
            if let Some(next) = worked.next {
                left.retry(self.parts, worked.done.position, next);
                more = true;
            } else if worked.done.outcome == Outcome::Closed(Reason::Attempts) {
                left.give_up(worked.done.position);
                more = true;
            }
            done.push(worked.done);
            gone.extend(worked.gone);
        }
        let pending = more.then(|| pack(&left.messages(self.batch)));
        let stepped = self.kept(self.a_step(done, claim, term, pending, at)).await?;
        if matches!(stepped, Stepped::Done(_)) {
            self.left = left;
            let aside = std::mem::take(&mut self.aside);
            self.elsewhere.extend(aside.iter().flat_map(Apart::positions));
            for (outcome, count) in counts {
                self.parts.metrics.users(&self.batch.channel, outcome, count);
            }
            drop_gone(self.parts, self.line, gone).await;
        }
        Ok(stepped)
    }

    async fn kept(&self, step: Step) -> Result<Stepped, StoreError> {
        let began = tokio::time::Instant::now();
        let (mut wait, mut stopping) = (AGAIN, None);
        loop {
            let error = match self.parts.ledger.step(step.clone()).await {
                Err(error) => error,
                stepped => return stepped,
            };
            let over = if step.done.is_empty() {
                self.began.elapsed() > LONGEST_HELD
            } else {
                began.elapsed() > LONGEST
            };
            if over || matches!(error, StoreError::Corrupt { .. }) {
                return Err(error);
            }
            if self.stop.is_cancelled() {
                let since = *stopping.get_or_insert_with(tokio::time::Instant::now);
                if since.elapsed() > STOPPING {
                    return Err(error);
                }
            }
            if wait == AGAIN {
                tracing::warn!(channel = %self.line.name, %error, outcomes = step.done.len(), "the ledger is away: the step is kept until it is back");
            }
            sleep(wait).await;
            wait = (wait * 2).min(AGAIN * 16);
        }
    }

    fn a_step(
        &self,
        done: Vec<night_ledger::Done>,
        claim: Vec<(u32, Zone)>,
        term: Duration,
        pending: Option<Vec<u8>>,
        at: Instant,
    ) -> Step {
        let batch = self.batch;
        Step {
            seal: batch.seal(),
            batch: batch.id,
            attempt: batch.attempt,
            channel: batch.channel.clone(),
            owner: self.owner,
            term,
            done,
            claim,
            pending,
            at,
        }
    }
}

fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Delivered => "delivered",
        Outcome::Closed(reason) => reason.class().name(),
        Outcome::Retry { .. } => "retry",
        Outcome::Released => "released",
        Outcome::Moved { .. } => "moved",
    }
}
