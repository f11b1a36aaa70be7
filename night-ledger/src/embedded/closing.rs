//! Closing, aborting and opening again: changes of claims that no sender makes.

use std::collections::HashMap;

use domain::{ChannelName, SealKey, Zone};
use plumbing::{
    File, FileError, StoreError,
    redb::{ReadableTable, WriteTransaction},
};

use super::{counting, seals, sheet::Sheet, tables};
use crate::{Claim, ClosedOpen, Due, Seal, closing, closing::Swept};

pub(super) async fn close(file: &File, key: SealKey, published: u32) -> Result<ClosedOpen, StoreError> {
    let Some(seal) = seals::read(file, &key)? else { return Ok(ClosedOpen::default()) };
    let done = file.write(move |to| {
        let name = tables::seal(&key);
        let mut progress = to.open_table(tables::PROGRESS)?;
        let held = progress.get(&name[..])?.map(|p| p.value());
        let Some((batches, false, deadline)) = held else { return Ok(ClosedOpen::default()) };
        progress.insert(&name[..], (batches, true, deadline))?;
        let mut closed = ClosedOpen::default();
        sweep(to, &key, &seal, seal.positions(), |position, _, old| closed.end(old, position, published))?;
        Ok(closed)
    });
    Ok(done.await?)
}

pub(super) async fn abort(file: &File, key: SealKey, zones: Option<Vec<Zone>>) -> Result<u64, StoreError> {
    let Some(seal) = seals::read(file, &key)? else { return Ok(0) };
    let done = file.write(move |to| {
        sweep(to, &key, &seal, seal.positions(), |_, due, old| {
            closing::aborted(old, seal.zones[usize::from(due.zone)].zone, zones.as_deref())
        })
    });
    Ok(done.await?)
}

pub(super) async fn reopen(file: &File, key: SealKey, positions: Vec<u32>) -> Result<u64, StoreError> {
    let Some(seal) = seals::read(file, &key)? else { return Ok(0) };
    let done = file.write(move |to| {
        let progress = to.open_table(tables::PROGRESS)?;
        let held = progress.get(&tables::seal(&key)[..])?.map(|p| p.value());
        let Some((_, false, _)) = held else { return Ok(0) };
        sweep(to, &key, &seal, positions.iter().copied(), |_, _, old| old.reopen())
    });
    Ok(done.await?)
}

/// Changes the claims at those of `positions` that the seal has and for which `becomes` says so, and the sums with them.
/// Answers how many changed.
fn sweep(
    to: &WriteTransaction,
    key: &SealKey,
    seal: &Seal,
    positions: impl Iterator<Item = u32>,
    mut becomes: impl FnMut(u32, &Due, Claim) -> Option<Claim>,
) -> Result<u64, FileError> {
    let name = tables::seal(key);
    let moved = moved(to, &name)?;
    let mut claims = to.open_table(tables::CLAIMS)?;
    let (mut sheet, mut swept) = (Sheet::new(key), Swept::default());
    let places = positions.map(|p| (p, usize::try_from(p).ok().and_then(|p| seal.due.get(p))));
    for (position, due) in places {
        let Some(due) = due else { continue };
        let old = sheet.get(&claims, position)?;
        if let Some(new) = becomes(position, due, old) {
            sheet.set(&claims, position, new)?;
            swept.change(seal, due, moved.get(&position), (position, old, new));
        }
    }
    sheet.save(&mut claims)?;
    let mut sums = to.open_table(tables::SUMS)?;
    for (channel, zone, delta) in swept.deltas.iter() {
        counting::change(&mut sums, &tables::sums(&name, channel, *zone), delta)?;
    }
    Ok(swept.changed.len() as u64)
}

fn moved(to: &WriteTransaction, name: &[u8]) -> Result<HashMap<u32, ChannelName>, FileError> {
    let mut moved = HashMap::new();
    for row in to.open_table(tables::MOVED)?.range::<&[u8]>(name..&tables::after(name)[..])? {
        let (at, channel) = row?;
        if let (Some(at), Ok(channel)) = (at.value().last_chunk(), channel.value().parse()) {
            moved.insert(u32::from_be_bytes(*at), channel);
        }
    }
    Ok(moved)
}
