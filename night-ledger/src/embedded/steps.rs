//! The step of a sender: book the outcomes of one chunk and claim the next, whole or not at all.

use std::sync::Arc;

use plumbing::{
    File, FileError, StoreError,
    redb::{ReadableTable, WriteTransaction},
    varint,
};

use super::{counting, leases::Leases, pending, sheet::Sheet, tables};
use crate::{
    Step, Stepped, fields,
    turn::{Hold, Turned, touched, turn},
};

pub(super) async fn step(file: &File, leases: &Leases, step: Step) -> Result<Stepped, StoreError> {
    let taken = match leases.take(&step) {
        Ok(taken) => Arc::new(taken),
        Err(left) => return Ok(Stepped::Held(left)),
    };
    let step = Arc::new(step);
    let writing = file.write({
        let (step, taken) = (Arc::clone(&step), Arc::clone(&taken));
        move |to| step_in(to, &step, &taken.hold)
    });
    let written = writing.await;
    let claimed = match &written {
        Ok(Stepped::Done(claimed)) => Some(&claimed[..]),
        _ => None,
    };
    leases.settle(&step, &taken, claimed);
    Ok(written?)
}

fn step_in(to: &WriteTransaction, step: &Step, hold: &Hold) -> Result<Stepped, FileError> {
    let name = tables::seal(&step.seal);
    if to.open_table(tables::PROGRESS)?.get(&name[..])?.is_none() {
        return Ok(Stepped::NoSeal);
    }
    let mut claims = to.open_table(tables::CLAIMS)?;
    let (positions, mut sheet) = (touched(step), Sheet::new(&step.seal));
    let mut old = Vec::with_capacity(positions.len());
    for &position in &positions {
        if !sheet.has(&claims, position)? {
            return Ok(Stepped::NoSeal);
        }
        old.push(sheet.get(&claims, position)?);
    }
    let turned = turn(step, hold, &positions, &old);
    for (&position, &now) in positions.iter().zip(&turned.now) {
        sheet.set(&claims, position, now)?;
    }
    sheet.save(&mut claims)?;
    write_beside(to, step, &name, &turned)?;
    Ok(Stepped::Done(turned.claimed))
}

/// What changes together with the claims: sums, moves, the log, and what is to be published.
fn write_beside(to: &WriteTransaction, step: &Step, name: &[u8], turned: &Turned) -> Result<(), FileError> {
    let mut sums = to.open_table(tables::SUMS)?;
    for (channel, zone, delta) in turned.deltas.iter() {
        counting::change(&mut sums, &tables::sums(name, channel, *zone), delta)?;
    }
    if !turned.moved.is_empty() {
        let mut moved = to.open_table(tables::MOVED)?;
        for (position, channel) in &turned.moved {
            moved.insert(&tables::with(name.to_vec(), &position.to_be_bytes())[..], channel.as_str())?;
        }
    }
    pending::keep(to, step)?;
    log(to, step, name, &turned.booked)
}

fn log(to: &WriteTransaction, step: &Step, name: &[u8], booked: &[u32]) -> Result<(), FileError> {
    let mut booked = booked.to_vec();
    booked.sort_unstable();
    let Some(&first) = booked.first() else { return Ok(()) };
    let mut key = name.to_vec();
    key.extend(step.at.timestamp_millis().unsigned_abs().to_be_bytes());
    key.extend(step.batch.0.to_be_bytes());
    key.extend(first.to_be_bytes());
    let mut value = vec![step.attempt];
    let mut last = 0;
    for position in booked {
        varint::put(&mut value, u64::from(position - last));
        last = position;
    }
    to.open_table(tables::WORKED)?.insert(&key[..], &value[..])?;
    Ok(())
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
