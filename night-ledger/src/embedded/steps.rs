//! The step of a sender: book the outcomes of one chunk and claim the next, whole or not at all.

use std::{collections::HashMap, sync::Arc};

use domain::{BatchId, ChannelName, SealKey, Zone};
use plumbing::{
    File, FileError, StoreError,
    redb::{ReadableTable, WriteTransaction},
    varint,
};

use super::{
    counting,
    leases::{Hold, Leases},
    sheet::Sheet,
    tables,
};
use crate::{Claim, Done, Outcome, Reason, State, Step, Stepped, fields, sums::Delta};

pub(super) async fn step(file: &File, leases: &Leases, step: Step) -> Result<Stepped, StoreError> {
    let hold = match leases.take(&step) {
        Ok(hold) => Arc::new(hold),
        Err(left) => return Ok(Stepped::Held(left)),
    };
    let step = Arc::new(step);
    let writing = file.write({
        let (step, hold) = (Arc::clone(&step), Arc::clone(&hold));
        move |to| step_in(to, &step, &hold)
    });
    let written = writing.await;
    let claimed = match &written {
        Ok(Stepped::Done(claimed)) => Some(&claimed[..]),
        _ => None,
    };
    leases.settle(&step, &hold, claimed);
    Ok(written?)
}

fn step_in(to: &WriteTransaction, step: &Step, hold: &Hold) -> Result<Stepped, FileError> {
    let mut work = Work { to, step, sheet: Sheet::new(&step.seal), deltas: HashMap::new() };
    if !work.positions_are_there()? {
        return Ok(Stepped::NoSeal);
    }
    work.book()?;
    let claimed = work.claim(hold)?;
    if let Some(pending) = &step.pending {
        to.open_table(tables::PENDING)?.insert(&pending_key(&step.seal, step.batch)[..], &pending[..])?;
    }
    work.save()?;
    Ok(Stepped::Done(claimed))
}

/// What the steps on a batch left to be published.
pub(super) fn pending(file: &File, seal: &SealKey, batch: BatchId) -> Result<Option<Vec<u8>>, FileError> {
    let table = file.read()?.open_table(tables::PENDING)?;
    Ok(table.get(&pending_key(seal, batch)[..])?.map(|bytes| bytes.value().to_vec()))
}

pub(super) fn pending_key(seal: &SealKey, batch: BatchId) -> Vec<u8> {
    tables::with(tables::seal(seal), &batch.0.to_be_bytes())
}

struct Work<'a> {
    to: &'a WriteTransaction,
    step: &'a Step,
    sheet: Sheet,
    deltas: HashMap<(ChannelName, Zone), Delta>,
}

impl Work<'_> {
    fn positions_are_there(&mut self) -> Result<bool, FileError> {
        if self.to.open_table(tables::PROGRESS)?.get(&tables::seal(&self.step.seal)[..])?.is_none() {
            return Ok(false);
        }
        let table = self.to.open_table(tables::CLAIMS)?;
        let positions =
            self.step.done.iter().map(|d| d.position).chain(self.step.claim.iter().map(|(p, _)| *p));
        for position in positions {
            if !self.sheet.has(&table, position)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

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
            Outcome::Closed(Reason::NoAnswer) => old.pushed().close(Reason::NoAnswer),
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

    fn claim(&mut self, hold: &Hold) -> Result<Vec<Option<Claim>>, FileError> {
        let table = self.to.open_table(tables::CLAIMS)?;
        let mut claimed = Vec::with_capacity(self.step.claim.len());
        for &(position, zone) in &self.step.claim {
            let old = self.sheet.get(&table, position)?;
            let took_over = !hold.own.contains(&position);
            let new =
                if hold.others.contains(&position) { None } else { old.claim(self.step.attempt, took_over) };
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
