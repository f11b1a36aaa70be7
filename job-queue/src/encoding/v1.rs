//! Version 1, field by field as the table in [`super`] has it.

use chrono::{DateTime, TimeDelta};
use domain::{BatchId, Day, Instant, Shard, Uid};
use plumbing::varint;

use super::{Malformed, Reader, check};
use crate::{Batch, BatchEntry, BatchZone};

const NOT_BEFORE: u8 = 1;
const CONTIGUOUS: u8 = 2;

pub(super) fn write(batch: &Batch, to: &mut Vec<u8>) {
    varint::put(to, wide(batch.entries.len()));
    to.extend(batch.id.0.to_be_bytes());
    text(to, batch.campaign.as_str());
    varint::put(to, batch.day.number().into());
    varint::put(to, batch.shard.0.into());
    varint::put_signed(to, batch.instant.timestamp());
    varint::put(to, batch.slot.into());
    text(to, batch.channel.as_str());
    to.push(batch.attempt);
    let contiguous = batch.entries.windows(2).all(|w| w[0].position.checked_add(1) == Some(w[1].position));
    let not_before = if batch.not_before.is_some() { NOT_BEFORE } else { 0 };
    to.push(not_before | if contiguous { CONTIGUOUS } else { 0 });
    if let Some(time) = batch.not_before {
        varint::put_signed(to, time.timestamp_millis());
    }
    varint::put(to, wide(batch.zones.len()));
    for zone in &batch.zones {
        text(to, zone.zone.name());
        varint::put_signed(to, zone.deadline.timestamp().saturating_sub(batch.instant.timestamp()));
    }
    write_uids(&batch.entries, to);
    write_positions(&batch.entries, contiguous, to);
    if batch.zones.len() > 1 {
        to.extend(batch.entries.iter().map(|e| e.zone));
    }
}

pub(super) fn count(from: &mut Reader<'_>) -> Result<usize, Malformed> {
    check::users(from.varint("count")?)
}

pub(super) fn read(from: &mut Reader<'_>) -> Result<Batch, Malformed> {
    let count = count(from)?;
    let id = BatchId(u128::from_be_bytes(from.array("id")?));
    let campaign = from.text("campaign")?.parse()?;
    let day = from.u32("day")?;
    let day = Day::from_number(day).ok_or(Malformed::Day(day))?;
    let shard = Shard(from.u32("shard")?);
    let instant = from.signed("instant")?;
    let instant = DateTime::from_timestamp(instant, 0).ok_or(Malformed::Time("instant"))?;
    let slot = from.u32("slot")?;
    let channel = from.text("channel")?.parse()?;
    let attempt = from.byte("attempt")?;
    let flags = from.byte("flags")?;
    if flags & !(NOT_BEFORE | CONTIGUOUS) != 0 {
        return Err(Malformed::Flags(flags));
    }
    let not_before = if flags & NOT_BEFORE == 0 {
        None
    } else {
        let ms = from.signed("not_before")?;
        Some(DateTime::from_timestamp_millis(ms).ok_or(Malformed::Time("not_before"))?)
    };
    let zones = read_zones(instant, from)?;
    let mut entries = read_uids(count, from)?;
    read_positions(&mut entries, flags & CONTIGUOUS != 0, from)?;
    if zones.len() > 1 {
        for entry in &mut entries {
            entry.zone = from.byte("zone index")?;
        }
    }
    Ok(Batch { id, campaign, day, shard, instant, slot, channel, attempt, not_before, zones, entries })
}

fn write_uids(entries: &[BatchEntry], to: &mut Vec<u8>) {
    let Some(first) = entries.first() else { return };
    varint::put(to, first.uid.0);
    let steps = || entries.windows(2).map(|w| w[1].uid.0.wrapping_sub(w[0].uid.0));
    if entries.len() > 1 {
        let stride = steps().fold(0, common).max(1);
        varint::put(to, stride);
        if stride.is_power_of_two() {
            let shift = stride.trailing_zeros();
            steps().for_each(|step| put(to, step >> shift));
        } else {
            steps().for_each(|step| put(to, step / stride));
        }
    }
}

fn write_positions(entries: &[BatchEntry], contiguous: bool, to: &mut Vec<u8>) {
    let Some(first) = entries.first() else { return };
    varint::put(to, first.position.into());
    if !contiguous {
        entries.windows(2).for_each(|w| varint::put(to, w[1].position.wrapping_sub(w[0].position).into()));
    }
}

/// Appends a number that is mostly small.
fn put(to: &mut Vec<u8>, number: u64) {
    match u8::try_from(number) {
        Ok(byte) if byte < 0x80 => to.push(byte),
        _ => varint::put(to, number),
    }
}

fn read_zones(instant: Instant, from: &mut Reader<'_>) -> Result<Vec<BatchZone>, Malformed> {
    let count = check::zone_count(from.varint("zones")?)?;
    let mut zones = Vec::with_capacity(count.min(from.left()));
    for _ in 0..count {
        let zone = from.text("zone")?.parse()?;
        let after = TimeDelta::try_seconds(from.signed("deadline")?);
        let deadline = after.and_then(|a| instant.checked_add_signed(a));
        zones.push(BatchZone { zone, deadline: deadline.ok_or(Malformed::Time("deadline"))? });
    }
    Ok(zones)
}

/// The users with neither position nor zone yet.
fn read_uids(count: usize, from: &mut Reader<'_>) -> Result<Vec<BatchEntry>, Malformed> {
    let mut entries = Vec::with_capacity(count.min(from.left()));
    let mut uid = from.varint("uid")?;
    entries.push(BatchEntry { uid: Uid(uid), position: 0, zone: 0 });
    let stride = if count > 1 { from.varint("stride")? } else { 1 };
    if stride == 0 {
        return Err(Malformed::Number("stride"));
    }
    for _ in 1..count {
        let step = from.varint("uid")?.checked_mul(stride);
        uid = step.and_then(|s| uid.checked_add(s)).ok_or(Malformed::UidOrder)?;
        entries.push(BatchEntry { uid: Uid(uid), position: 0, zone: 0 });
    }
    Ok(entries)
}

fn read_positions(
    entries: &mut [BatchEntry],
    contiguous: bool,
    from: &mut Reader<'_>,
) -> Result<(), Malformed> {
    let mut position = from.u32("position")?;
    for (index, entry) in entries.iter_mut().enumerate() {
        if index > 0 {
            let step = if contiguous { 1 } else { from.u32("position")? };
            position = position.checked_add(step).ok_or(Malformed::PositionOrder)?;
        }
        entry.position = position;
    }
    Ok(())
}

/// The greatest common divisor of a stride so far, 0 at first, and a step. Mostly it stays as it is, and N, which is in it,
/// is mostly a power of two: a division for each user would be most of the work.
fn common(stride: u64, step: u64) -> u64 {
    let divides = stride.is_power_of_two() && step & (stride - 1) == 0;
    if divides { stride } else { divisor(stride, step) }
}

fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Names are at most 255 bytes: campaigns and channels by their type, zones by the zone table.
fn text(to: &mut Vec<u8>, text: &str) {
    let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
    to.push(length);
    to.extend(text.bytes().take(length.into()));
}

fn wide(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stride_is_the_greatest_common_divisor() {
        for (steps, stride) in [
            (&[64, 128, 64 * 77][..], 64),
            (&[64, 96], 32),
            (&[300, 64], 4),
            (&[100, 300, 1_100], 100),
            (&[8, 3, 8], 1),
            (&[1, u64::MAX], 1),
            (&[u64::MAX], u64::MAX),
            (&[1 << 63, 1 << 62], 1 << 62),
        ] {
            assert_eq!(steps.iter().copied().fold(0, common), stride, "{steps:?}");
        }
    }
}
