//! Closing a seal: what is still open after its deadline gets its end.

use std::collections::HashMap;

use domain::SealKey;
use plumbing::{
    File, FileError, StoreError,
    redb::{ReadableTable, WriteTransaction},
};

use super::{counting, seals, sheet::Sheet, tables};
use crate::{ClosedOpen, Reason, Seal, State, sums::Delta};

pub(super) async fn close(file: &File, key: SealKey, published: u32) -> Result<ClosedOpen, StoreError> {
    let Some(seal) = seals::read(file, &key)? else { return Ok(ClosedOpen::default()) };
    let name = tables::seal(&key);
    let done = file.write(move |to| close_in(to, &key, &name, &seal, published));
    Ok(done.await?)
}

fn close_in(
    to: &WriteTransaction,
    key: &SealKey,
    name: &[u8],
    seal: &Seal,
    published: u32,
) -> Result<ClosedOpen, FileError> {
    let mut progress = to.open_table(tables::PROGRESS)?;
    let held = progress.get(name)?.map(|p| p.value());
    let Some((batches, false, deadline)) = held else { return Ok(ClosedOpen::default()) };
    progress.insert(name, (batches, true, deadline))?;
    let mut moved = HashMap::new();
    for row in to.open_table(tables::MOVED)?.range::<&[u8]>(name..&tables::after(name)[..])? {
        let (at, channel) = row?;
        if let (Some(at), Ok(channel)) = (at.value().last_chunk(), channel.value().parse()) {
            moved.insert(u32::from_be_bytes(*at), channel);
        }
    }
    let mut claims = to.open_table(tables::CLAIMS)?;
    let mut sheet = Sheet::new(key);
    let mut deltas: HashMap<_, Delta> = HashMap::new();
    let mut closed = ClosedOpen::default();
    for (position, due) in (0u32..).zip(&seal.due) {
        let old = sheet.get(&claims, position)?;
        let (reason, count) = match old.state() {
            State::Claimed(_) => (Reason::NoAnswer, &mut closed.uncertain),
            State::Free(_) if old.maybe() => (Reason::NoAnswer, &mut closed.uncertain),
            State::Free(attempt) if attempt > 1 => (Reason::Deadline, &mut closed.expired),
            State::Free(_) if position >= published => (Reason::NotPublished, &mut closed.missed),
            State::Free(_) => (Reason::NeverWorked, &mut closed.never_worked),
            _ => continue,
        };
        *count += 1;
        // a claim that was in flight may have been pushed again
        let last = if matches!(old.state(), State::Claimed(_)) { old.pushed() } else { old };
        let new = last.close(reason);
        sheet.set(&claims, position, new)?;
        let channel = moved.get(&position).unwrap_or(&seal.channels[usize::from(due.channel)]).clone();
        deltas.entry((due.zone, channel)).or_default().shift(old, new);
    }
    sheet.save(&mut claims)?;
    let mut sums = to.open_table(tables::SUMS)?;
    for ((zone, channel), delta) in deltas {
        let row = tables::sums(name, &channel, seal.zones[usize::from(zone)].zone);
        counting::change(&mut sums, &row, &delta)?;
    }
    Ok(closed)
}
