//! What a batch leaves behind: child batches with the users to be tried again, and a dead letter with those given up.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use chrono::{TimeDelta, Utc};
use domain::ChannelName;
use job_queue::{Batch, DeadLetter, DeadReason, encoding};
use night_ledger::{Reason, State, StoreError};

use crate::{
    chunk::Next,
    parts::{Parts, backoff},
};

/// What is left of a batch after its chunks, by position.
#[derive(Default)]
pub(crate) struct Left {
    /// Users to be tried again.
    pub(crate) next: BTreeMap<u32, Next>,
    /// Users given up after the last attempt.
    pub(crate) dead: BTreeSet<u32>,
}

impl Left {
    /// Adds what an earlier, interrupted work on the same batch recorded and may not have published, as the claims tell.
    pub(crate) async fn recover(&mut self, parts: &Parts, batch: &Batch) -> Result<(), StoreError> {
        let positions: Vec<u32> = batch.entries.iter().map(|e| e.position).collect();
        let held = parts.ledger.claims(&batch.seal(), &positions).await?;
        for (position, held) in positions.into_iter().zip(held) {
            match held.claim.state() {
                State::Free(attempt) if attempt == batch.attempt + 1 => {
                    let channel = held.moved.unwrap_or_else(|| batch.channel.clone());
                    let stays = channel == batch.channel;
                    let wait = if stays { backoff(&parts.settings, attempt) } else { Duration::ZERO };
                    self.next.entry(position).or_insert(Next { channel, wait });
                }
                State::Closed(Reason::Attempts) if batch.attempt >= parts.settings.attempts => {
                    self.dead.insert(position);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Publishes the children and the dead letter; answers when they are confirmed.
    pub(crate) async fn publish(self, parts: &Parts, batch: &Batch) -> Result<(), StoreError> {
        let mut groups: BTreeMap<(ChannelName, usize), (Duration, BTreeSet<u32>)> = BTreeMap::new();
        for (position, next) in self.next {
            let step = if next.wait.is_zero() { 0 } else { 1 + parts.ladder.step_for(next.wait) };
            let group = groups.entry((next.channel, step)).or_default();
            group.0 = group.0.max(next.wait);
            group.1.insert(position);
        }
        for ((channel, step), (wait, positions)) in groups {
            let mut child = subset(batch, &positions);
            child.attempt = batch.attempt + 1;
            child.id = batch.id.child(child.attempt, &channel, step);
            child.channel = channel;
            if step == 0 {
                parts.queue.publish(std::slice::from_ref(&child)).await?;
            } else {
                child.not_before =
                    TimeDelta::from_std(wait).ok().and_then(|w| Utc::now().checked_add_signed(w));
                parts.queue.delay(&child, wait).await?;
            }
        }
        if !self.dead.is_empty() {
            let detail = format!("{} users after {} attempts", self.dead.len(), batch.attempt);
            let bytes = encoding::encode(&subset(batch, &self.dead));
            bury(parts, &batch.channel, DeadReason::Attempts, detail, bytes).await?;
        }
        Ok(())
    }
}

/// Puts bytes among the dead letters.
pub(crate) async fn bury(
    parts: &Parts,
    channel: &ChannelName,
    reason: DeadReason,
    detail: String,
    bytes: Vec<u8>,
) -> Result<(), StoreError> {
    let letter = DeadLetter { channel: channel.clone(), reason, detail, at: Utc::now(), bytes };
    parts.queue.bury(letter).await
}

fn subset(batch: &Batch, positions: &BTreeSet<u32>) -> Batch {
    let entries = batch.entries.iter().filter(|e| positions.contains(&e.position)).copied().collect();
    Batch { entries, not_before: None, ..batch.clone() }
}
