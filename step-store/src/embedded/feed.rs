use bytes::Bytes;
use domain::Instant;
use plumbing::{File, FileError};
use redb::{ReadableTable, WriteTransaction};

use super::tables::{FEED, FROZEN, OUTBOX, table};
use crate::{Outbox, Position, Posting, StoreError, bounds::MOST_OUTBOX};

/// A file loses nothing that it answered, so it has one lineage.
const LINEAGE: u64 = 1;

pub(super) fn freeze(to: &WriteTransaction, mark: Instant) -> Result<(), FileError> {
    let mut frozen = to.open_table(FROZEN)?;
    let held = frozen.get(0)?.map(|held| held.value());
    let mark = mark.timestamp_millis();
    if held.is_none_or(|held| held < mark) {
        frozen.insert(0, mark)?;
    }
    Ok(())
}

pub(super) fn frozen_to(file: &File) -> Result<Option<Instant>, StoreError> {
    let Some(frozen) = table(file, FROZEN)? else { return Ok(None) };
    let Some(held) = frozen.get(0).map_err(FileError::from)? else { return Ok(None) };
    let ms = held.value();
    let instant = Instant::from_timestamp_millis(ms);
    instant
        .map(Some)
        .ok_or_else(|| StoreError::corrupt("the watermark of the step store", format!("{ms} ms")))
}

/// Adds a posting to a part's outbox; the oldest beyond its bound go.
pub(super) fn post(to: &WriteTransaction, part: u32, posting: &[u8]) -> Result<(), FileError> {
    let (mut feed, mut outbox) = (to.open_table(FEED)?, to.open_table(OUTBOX)?);
    let (last, posted, held) = feed.get(part)?.map_or((0, 0, 0), |held| held.value());
    let number = last + 1;
    outbox.insert((part, number), posting)?;
    let mut bytes = held + posting.len() as u64;
    while bytes > MOST_OUTBOX {
        let oldest = outbox.range((part, 0)..=(part, number))?.next();
        let Some((key, size)) = oldest.transpose()?.map(|(key, value)| (key.value(), value.value().len()))
        else {
            break;
        };
        outbox.remove(key)?;
        bytes = bytes.saturating_sub(size as u64);
    }
    feed.insert(part, (number, posted, bytes))?;
    Ok(())
}

pub(super) fn outbox(file: &File, part: u32) -> Result<Outbox, StoreError> {
    let (last, posted, _) = numbers(file, part)?;
    let mut outbox = Outbox { first: last + 1, postings: Vec::new(), posted, last };
    let Some(held) = table(file, OUTBOX)? else { return Ok(outbox) };
    for found in held.range((part, 0)..=(part, last)).map_err(FileError::from)? {
        let (key, bytes) = found.map_err(FileError::from)?;
        if outbox.postings.is_empty() {
            outbox.first = key.value().1;
        }
        outbox.postings.push(Posting::new(Bytes::copy_from_slice(bytes.value())));
    }
    Ok(outbox)
}

pub(super) fn posted(to: &WriteTransaction, part: u32, upto: u64) -> Result<(), FileError> {
    let (mut feed, mut outbox) = (to.open_table(FEED)?, to.open_table(OUTBOX)?);
    let (last, before, mut bytes) = feed.get(part)?.map_or((0, 0, 0), |held| held.value());
    if upto > last {
        return Err(FileError::entry(
            "the outbox of the step store",
            format!("there is no posting {upto} of part {part}"),
        ));
    }
    let mut gone = Vec::new();
    for found in outbox.range((part, 0)..=(part, upto))? {
        let (key, value) = found?;
        bytes = bytes.saturating_sub(value.value().len() as u64);
        gone.push(key.value());
    }
    for key in gone {
        outbox.remove(key)?;
    }
    feed.insert(part, (last, before.max(upto), bytes))?;
    Ok(())
}

pub(super) fn position(file: &File, part: u32) -> Result<Position, StoreError> {
    numbers(file, part).map(|(last, ..)| Position { lineage: LINEAGE, last })
}

fn numbers(file: &File, part: u32) -> Result<(u64, u64, u64), StoreError> {
    let Some(feed) = table(file, FEED)? else { return Ok((0, 0, 0)) };
    Ok(feed.get(part).map_err(FileError::from)?.map_or((0, 0, 0), |held| held.value()))
}
