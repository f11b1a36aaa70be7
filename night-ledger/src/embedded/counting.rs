//! Sums as they are counted along, and the recount from the claims.

use std::collections::HashMap;

use domain::{ChannelName, Night};
use plumbing::{
    File, FileError, StoreError,
    redb::{ReadableTable, Table},
};

use super::{seals, sheet::Sheet, tables};
use crate::{
    Line, Sums,
    sums::{COUNTS, Delta},
};

/// The counts of a row.
pub(super) fn line(bytes: &[u8]) -> Result<Line, FileError> {
    Ok(counts(bytes)?.into())
}

/// Changes a row by a delta; a count that would fall below zero is a fault that undoes the whole step.
pub(super) fn change(
    table: &mut Table<'_, &'static [u8], &'static [u8]>,
    row: &[u8],
    delta: &Delta,
) -> Result<(), FileError> {
    if delta.is_zero() {
        return Ok(());
    }
    let held = table.get(row)?.map(|b| counts(b.value())).transpose()?;
    let mut held = held.unwrap_or([0; COUNTS]);
    for (count, by) in held.iter_mut().zip(delta.counts) {
        let below = || FileError::entry("sums", "a count would fall below zero");
        *count = count.checked_add_signed(by).ok_or_else(below)?;
    }
    let bytes: Vec<u8> = held.iter().flat_map(|c| c.to_le_bytes()).collect();
    table.insert(row, &bytes[..])?;
    Ok(())
}

pub(super) fn sums(file: &File, night: &Night) -> Result<Sums, FileError> {
    let table = file.read()?.open_table(tables::SUMS)?;
    let prefix = tables::night(night);
    let mut sums = Sums::default();
    for row in table.range::<&[u8]>(&prefix[..]..&tables::after(&prefix)[..])? {
        let (key, counts) = row?;
        let (seal, rest) = tables::split_seal(key.value())?;
        let (channel, zone) = tables::split_sums(rest)?;
        sums.add(zone, seal.shard, channel, &line(counts.value())?);
    }
    Ok(sums)
}

pub(super) fn recount(file: &File, night: &Night) -> Result<Sums, StoreError> {
    let mut sums = Sums::default();
    for (key, _) in seals::list(file, night, None)? {
        let Some(seal) = seals::read(file, &key)? else { continue };
        let moved = moved(file, &tables::seal(&key))?;
        let table = file.read()?.open_table(tables::CLAIMS).map_err(FileError::from)?;
        let mut sheet = Sheet::new(&key);
        let mut lines: HashMap<(u8, &ChannelName), Line> = HashMap::new();
        for (position, due) in (0u32..).zip(&seal.due) {
            let channel = moved.get(&position).unwrap_or(&seal.channels[usize::from(due.channel)]);
            let line = lines.entry((due.zone, channel)).or_default();
            line.enter(sheet.get(&table, position)?);
        }
        for ((zone, channel), line) in lines {
            sums.add(seal.zones[usize::from(zone)].zone, key.shard, channel.clone(), &line);
        }
    }
    Ok(sums)
}

/// The positions of a seal that were moved to another channel.
pub(super) fn moved(file: &File, seal: &[u8]) -> Result<HashMap<u32, ChannelName>, FileError> {
    let table = file.read()?.open_table(tables::MOVED)?;
    let mut moved = HashMap::new();
    for row in table.range::<&[u8]>(seal..&tables::after(seal)[..])? {
        let (key, channel) = row?;
        let position = key.value().last_chunk().map(|p| u32::from_be_bytes(*p));
        let channel = channel.value().parse().ok();
        let (Some(position), Some(channel)) = (position, channel) else {
            return Err(FileError::entry("moved channel", format!("{:?}", key.value())));
        };
        moved.insert(position, channel);
    }
    Ok(moved)
}

fn counts(bytes: &[u8]) -> Result<[u64; COUNTS], FileError> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    let mut counts = [0; COUNTS];
    // a row written before a reason was added is shorter
    if numbers.len() > COUNTS || !rest.is_empty() {
        return Err(FileError::entry("sums", format!("{} bytes", bytes.len())));
    }
    counts.iter_mut().zip(numbers).for_each(|(count, number)| *count = u64::from_le_bytes(*number));
    Ok(counts)
}
