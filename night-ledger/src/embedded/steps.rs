//! The step of a sender: book the outcomes of one chunk and claim the next, whole or not at all.

use std::{collections::HashMap, sync::PoisonError};

use domain::{ChannelName, Zone};
use plumbing::{File, FileError, StoreError, redb::WriteTransaction, varint};

use super::{Lease, Leases, counting, sheet::Sheet, tables};
use crate::{Claim, Done, Outcome, State, Step, Stepped, fields, sums::Delta};

pub(super) async fn step(file: &File, leases: &Leases, step: Step) -> Result<Stepped, StoreError> {
    let leases = Leases::clone(leases);
    Ok(file.write(move |to| step_in(to, &leases, &step)).await?)
}

fn step_in(to: &WriteTransaction, leases: &Leases, step: &Step) -> Result<Stepped, FileError> {
    let now = std::time::Instant::now();
    let mut leases = leases.lock().unwrap_or_else(PoisonError::into_inner);
    leases.retain(|_, lease| lease.until > now);
    let held = leases.get(&step.batch);
    if let Some(lease) = held
        && lease.owner != step.owner
    {
        return Ok(Stepped::Held(lease.until - now));
    }
    let own = held.map_or(&[][..], |lease| &lease.chunk[..]);
    let mut work = Work { to, step, sheet: Sheet::new(&step.seal), deltas: HashMap::new() };
    work.book()?;
    let claimed = work.claim(own)?;
    work.save()?;
    if step.term.is_zero() {
        leases.remove(&step.batch);
    } else {
        let positions = step.claim.iter().zip(&claimed).filter(|(_, claim)| claim.is_some());
        let chunk = positions.map(|((position, _), _)| *position).collect();
        leases.insert(step.batch, Lease { owner: step.owner, until: now + step.term, chunk });
    }
    Ok(Stepped::Done(claimed))
}

struct Work<'a> {
    to: &'a WriteTransaction,
    step: &'a Step,
    sheet: Sheet,
    deltas: HashMap<(ChannelName, Zone), Delta>,
}

impl Work<'_> {
    fn book(&mut self) -> Result<(), FileError> {
        let table = self.to.open_table(tables::CLAIMS)?;
        let mut booked = Vec::with_capacity(self.step.done.len());
        for done in &self.step.done {
            let old = self.sheet.get(&table, done.position)?;
            // what this batch no longer holds was booked before, by a step whose answer got lost, or closed
            if old.state() != State::Claimed(self.step.attempt) {
                continue;
            }
            booked.push(done.position);
            let new = self.apply(old, done)?;
            self.sheet.set(&table, done.position, new)?;
        }
        drop(table);
        self.log(&booked)
    }

    fn apply(&mut self, old: Claim, done: &Done) -> Result<Claim, FileError> {
        let new = match &done.outcome {
            Outcome::Delivered => old.deliver(),
            Outcome::Closed(reason) => old.close(*reason),
            Outcome::Retry { maybe } => old.retry(*maybe),
            Outcome::Released => old.release(),
            Outcome::Moved { channel } => {
                let new = old.retry(false);
                self.delta(&self.step.channel.clone(), done.zone).carry(old, -1);
                self.delta(channel, done.zone).carry(new, 1);
                let key = tables::with(tables::seal(&self.step.seal), &done.position.to_be_bytes());
                self.to.open_table(tables::MOVED)?.insert(&key[..], channel.as_str())?;
                return Ok(new);
            }
        };
        self.delta(&self.step.channel.clone(), done.zone).shift(old, new);
        Ok(new)
    }

    /// `own`: what this owner claimed in its last step. The same step may come again when its answer was lost; whatever
    /// else is claimed was left by one who lost the lease, and may have been pushed.
    fn claim(&mut self, own: &[u32]) -> Result<Vec<Option<Claim>>, FileError> {
        let table = self.to.open_table(tables::CLAIMS)?;
        let mut claimed = Vec::with_capacity(self.step.claim.len());
        for &(position, zone) in &self.step.claim {
            let old = self.sheet.get(&table, position)?;
            let new = old.claim(self.step.attempt, own.binary_search(&position).is_err());
            if let Some(new) = new {
                self.sheet.set(&table, position, new)?;
                self.delta(&self.step.channel.clone(), zone).shift(old, new);
            }
            claimed.push(new);
        }
        Ok(claimed)
    }

    fn delta(&mut self, channel: &ChannelName, zone: Zone) -> &mut Delta {
        self.deltas.entry((channel.clone(), zone)).or_default()
    }

    fn log(&self, positions: &[u32]) -> Result<(), FileError> {
        let Some(&first) = positions.first() else { return Ok(()) };
        let mut key = tables::seal(&self.step.seal);
        key.extend(self.step.at.timestamp_millis().unsigned_abs().to_be_bytes());
        key.extend(self.step.batch.0.to_be_bytes());
        key.extend(first.to_be_bytes());
        let mut value = vec![self.step.attempt];
        let mut last = 0;
        for &position in positions {
            varint::put(&mut value, u64::from(position.abs_diff(last)));
            last = position;
        }
        self.to.open_table(tables::WORKED)?.insert(&key[..], &value[..])?;
        Ok(())
    }

    fn save(self) -> Result<(), FileError> {
        self.sheet.save(&mut self.to.open_table(tables::CLAIMS)?)?;
        let mut sums = self.to.open_table(tables::SUMS)?;
        let seal = tables::seal(&self.step.seal);
        for ((channel, zone), delta) in &self.deltas {
            counting::change(&mut sums, &tables::sums(&seal, channel, *zone), delta)?;
        }
        Ok(())
    }
}

/// Whether a row of the log names `position`.
pub(super) fn names(value: &[u8], position: u32) -> Result<Option<u8>, StoreError> {
    let mut from = fields::Reader::new("worked", value);
    let attempt = from.byte()?;
    let mut at = 0u32;
    while !from.done() {
        at = at.checked_add(from.small()?).ok_or_else(|| from.bad("a position is too large"))?;
        if at == position {
            return Ok(Some(attempt));
        }
    }
    Ok(None)
}
