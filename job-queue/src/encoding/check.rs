use super::Malformed;
use crate::{Batch, MOST_UIDS};

/// The most zones of one batch: an index fits one byte.
pub const MOST_ZONES: usize = 256;
/// The highest attempt: a claim has four bits for it.
pub const MOST_ATTEMPT: u8 = 15;

/// Whether a batch keeps the bounds and orders that the encoding and the claims rely on. What it accepts,
/// [`super::decode`] gives back as it was.
pub fn check(batch: &Batch) -> Result<(), Malformed> {
    let Batch { attempt, zones, entries, .. } = batch;
    users(entries.len())?;
    zone_count(zones.len())?;
    if !(1..=MOST_ATTEMPT).contains(attempt) {
        return Err(Malformed::Attempt(*attempt));
    }
    if let Some(entry) = entries.iter().find(|e| usize::from(e.zone) >= zones.len()) {
        return Err(Malformed::ZoneIndex { index: entry.zone, zones: zones.len() });
    }
    if !entries.is_sorted_by(|a, b| a.uid < b.uid) {
        return Err(Malformed::UidOrder);
    }
    if !entries.is_sorted_by(|a, b| a.position < b.position) {
        return Err(Malformed::PositionOrder);
    }
    Ok(())
}

pub(super) fn users<N: TryInto<u64>>(count: N) -> Result<usize, Malformed> {
    within(count, MOST_UIDS).map_err(Malformed::Users)
}

pub(super) fn zone_count<N: TryInto<u64>>(count: N) -> Result<usize, Malformed> {
    within(count, MOST_ZONES).map_err(Malformed::Zones)
}

fn within<N: TryInto<u64>>(count: N, most: usize) -> Result<usize, u64> {
    let count = count.try_into().unwrap_or(u64::MAX);
    usize::try_from(count).ok().filter(|n| (1..=most).contains(n)).ok_or(count)
}
