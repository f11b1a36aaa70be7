//! What a batch leaves behind: child batches with the users to be tried again, batches with those who are worked elsewhere
//! or later, and a dead letter with those given up. It is kept in the ledger, in the step that books the outcomes, until it
//! is in the queue.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use chrono::{TimeDelta, Utc};
use domain::{ChannelName, Instant};
use job_queue::{Batch, BatchEntry, DeadLetter, DeadReason, encoding};
use night_ledger::StoreError;
use plumbing::varint;

use crate::{chunk::Next, parts::Parts};

/// What is left of a batch by the chunks worked so far.
#[derive(Clone, Default)]
pub(crate) struct Left {
    /// Users to be tried again, by channel and step of the ladder (0: at once).
    children: BTreeMap<(ChannelName, usize), Child>,
    /// Users not worked, set apart to go on by themselves.
    apart: Vec<Apart>,
    /// Positions given up after the last attempt.
    dead: BTreeSet<u32>,
}

/// Users of a batch that go on in one of their own, at the same attempt.
#[derive(Clone)]
pub(crate) struct Apart {
    not_before: Option<Instant>,
    positions: BTreeSet<u32>,
}

impl Apart {
    /// These users, not to be worked before then.
    pub(crate) fn new(not_before: Option<Instant>, users: impl IntoIterator<Item = BatchEntry>) -> Self {
        Self { not_before, positions: users.into_iter().map(|e| e.position).collect() }
    }

    /// Their positions.
    pub(crate) fn positions(&self) -> impl Iterator<Item = u32> + '_ {
        self.positions.iter().copied()
    }
}

#[derive(Clone, Default)]
struct Child {
    not_before: Option<Instant>,
    positions: BTreeSet<u32>,
}

impl Left {
    pub(crate) fn is_empty(&self) -> bool {
        self.children.is_empty() && self.apart.is_empty() && self.dead.is_empty()
    }

    /// Adds a user who is to be tried again.
    pub(crate) fn retry(&mut self, parts: &Parts, position: u32, next: Next) {
        let step = if next.wait.is_zero() { 0 } else { 1 + parts.ladder.step_for(next.wait) };
        let child = self.children.entry((next.channel, step)).or_default();
        child.positions.insert(position);
        if step > 0 {
            let at = TimeDelta::from_std(next.wait).ok().and_then(|wait| Utc::now().checked_add_signed(wait));
            child.not_before = child.not_before.max(at);
        }
    }

    /// Adds users who are set apart.
    pub(crate) fn apart(&mut self, more: &[Apart]) {
        self.apart.extend_from_slice(more);
    }

    /// Adds a user who is given up.
    pub(crate) fn give_up(&mut self, position: u32) {
        self.dead.insert(position);
    }

    /// The messages it comes to: children at the next attempt, batches at the parent's own, and under the parent's name one
    /// with those given up.
    pub(crate) fn messages(&self, parent: &Batch) -> Vec<Batch> {
        let children = self.children.iter().map(|((channel, _), child)| {
            let attempt = parent.attempt + 1;
            Batch {
                id: parent.id.child(attempt, channel, child.positions.iter().copied()),
                attempt,
                channel: channel.clone(),
                not_before: child.not_before,
                ..subset(parent, &child.positions)
            }
        });
        let apart = self.apart.iter().map(|apart| Batch {
            id: parent.id.child(parent.attempt, &parent.channel, apart.positions.iter().copied()),
            not_before: apart.not_before,
            ..subset(parent, &apart.positions)
        });
        let dead = (!self.dead.is_empty()).then(|| subset(parent, &self.dead));
        children.chain(apart).chain(dead).collect()
    }
}

/// Messages as the ledger keeps them: each its length as a varint and its encoding.
pub(crate) fn pack(messages: &[Batch]) -> Vec<u8> {
    let mut to = Vec::new();
    for message in messages {
        let bytes = encoding::encode(message);
        varint::put(&mut to, bytes.len() as u64);
        to.extend(bytes);
    }
    to
}

/// The messages of [`pack`].
pub(crate) fn unpack(mut from: &[u8]) -> Result<Vec<Batch>, StoreError> {
    let bad = |detail: &str| StoreError::corrupt("pending messages", detail);
    let mut messages = Vec::new();
    while !from.is_empty() {
        let length = varint::take(&mut from).ok().and_then(|n| usize::try_from(n).ok());
        let parts = length.and_then(|length| from.split_at_checked(length));
        let (bytes, rest) = parts.ok_or_else(|| bad("they end early"))?;
        messages.push(encoding::decode(bytes).map_err(|fault| bad(&fault.to_string()))?);
        from = rest;
    }
    Ok(messages)
}

/// Publishes what works on a batch recorded and did not publish, and takes it off the record; what one of them records
/// meanwhile stays there. Answers who of the batch is now in the queue in another one at the same attempt.
pub(crate) async fn publish_recorded(parts: &Parts, batch: &Batch) -> Result<BTreeSet<u32>, StoreError> {
    let (seal, mut elsewhere) = (batch.seal(), BTreeSet::new());
    for left in parts.ledger.pending(&seal, batch.id).await? {
        let messages = unpack(&left)?;
        publish(parts, batch, &messages).await?;
        parts.ledger.published(&seal, batch.id, &left).await?;
        let apart = messages.iter().filter(|m| m.id != batch.id && m.attempt == batch.attempt);
        elsewhere.extend(apart.flat_map(|m| m.entries.iter().map(|e| e.position)));
    }
    Ok(elsewhere)
}

/// Puts the messages a parent left into the queue, and what it gave up among the dead letters; answers when all are
/// confirmed.
pub(crate) async fn publish(parts: &Parts, parent: &Batch, messages: &[Batch]) -> Result<(), StoreError> {
    for message in messages {
        if message.id == parent.id {
            let detail = format!("{} users after {} attempts", message.entries.len(), message.attempt);
            bury(parts, &message.channel, DeadReason::Attempts, detail, encoding::encode(message)).await?;
            continue;
        }
        match message.not_before {
            None => parts.queue.publish(std::slice::from_ref(message)).await?,
            Some(at) => parts.queue.delay(message, until(at)).await?,
        }
    }
    Ok(())
}

/// How long it is until `at`, in real time.
pub(crate) fn until(at: Instant) -> Duration {
    (at - Utc::now()).to_std().unwrap_or_default()
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
