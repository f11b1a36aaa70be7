//! Closing, aborting and opening again: changes of claims that no sender makes. They go over a seal piece by piece, each
//! piece by compare-and-set with its sums, while senders may be at work on it.

use domain::{SealKey, Zone};
use plumbing::{Redis, StoreError};

use super::{
    keys,
    scripts::{self, put_sums},
    seals::{self, CLOSED, ENDING, STILL_OPEN},
    view,
    windows::Windows,
};
use crate::{Claim, ClosedOpen, Due, Seal, closing, closing::Swept};

/// Closes what is open in a seal. It is marked as being closed before, from when on nothing opens again, and as closed with
/// the last piece; whoever comes after one that died on the way goes over what that one left.
pub(super) async fn close(redis: &Redis, key: &SealKey, published: u32) -> Result<ClosedOpen, StoreError> {
    let Some(seal) = seals::read(redis, key).await? else { return Ok(ClosedOpen::default()) };
    let (shard, _) = keys::of_seal(redis, key);
    let ending = scripts::ENDING.call(&[shard.progress()]).arg(end_field(key));
    let before: String = redis.write(ending).await?;
    if before != STILL_OPEN && before != ENDING {
        return Ok(ClosedOpen::default());
    }
    let sweep = Sweep { redis, key, seal: &seal, must: ENDING, becomes: CLOSED };
    let positions: Vec<u32> = seal.positions().collect();
    let end = |position, _: &Due, old, closed: &mut ClosedOpen| closed.end(old, position, published);
    Ok(sweep.over(&positions, end).await?.1)
}

/// Closes what is free in a seal, in these zones or in all.
pub(super) async fn abort(redis: &Redis, key: &SealKey, zones: Option<&[Zone]>) -> Result<u64, StoreError> {
    let Some(seal) = seals::read(redis, key).await? else { return Ok(0) };
    let sweep = Sweep { redis, key, seal: &seal, must: "", becomes: "" };
    let positions: Vec<u32> = seal.positions().collect();
    let zone = |due: &Due| seal.zones[usize::from(due.zone)].zone;
    let end = |_, due: &Due, old, _: &mut ClosedOpen| closing::aborted(old, zone(due), zones);
    Ok(sweep.over(&positions, end).await?.0)
}

/// Sets free what was given up, in a seal that is not closed.
pub(super) async fn reopen(redis: &Redis, key: &SealKey, positions: &[u32]) -> Result<u64, StoreError> {
    let Some(seal) = seals::read(redis, key).await? else { return Ok(0) };
    let sweep = Sweep { redis, key, seal: &seal, must: STILL_OPEN, becomes: "" };
    let mut positions: Vec<u32> =
        positions.iter().copied().filter(|position| seal.positions().contains(position)).collect();
    positions.sort_unstable();
    positions.dedup();
    let open = |_, _: &Due, old: Claim, _: &mut ClosedOpen| old.reopen();
    Ok(sweep.over(&positions, open).await?.0)
}

/// A change of many claims of a seal.
struct Sweep<'a> {
    redis: &'a Redis,
    key: &'a SealKey,
    seal: &'a Seal,
    /// The end that the seal must have; empty for any.
    must: &'static str,
    /// The end that it gets with the last piece; empty for no change.
    becomes: &'static str,
}

enum Revised {
    /// So many claims changed.
    Done(u64),
    /// Claims changed underneath; nothing was written.
    Otherwise,
    /// The seal has another end, or is gone; nothing was written.
    Over,
}

/// Positions in a piece, at most and at least. One that changes underneath is tried again smaller: the less it covers, the
/// less often it meets a sender.
const MOST: usize = 8_192;
const LEAST: usize = 64;

/// So often is one piece tried.
const TRIES: u32 = 100;

impl Sweep<'_> {
    /// Goes over ascending positions. `becomes` answers the new claim of one that changes, and may count along.
    async fn over(
        &self,
        positions: &[u32],
        becomes: impl Fn(u32, &Due, Claim, &mut ClosedOpen) -> Option<Claim>,
    ) -> Result<(u64, ClosedOpen), StoreError> {
        let (mut changed, mut closed) = (0, ClosedOpen::default());
        let (mut rest, mut size, mut tries) = (positions, MOST, 0);
        loop {
            let (piece, after) = rest.split_at(size.min(rest.len()));
            let end = if after.is_empty() { self.becomes } else { "" };
            let mut counts = ClosedOpen::default();
            let revised = self
                .revise(piece, end, |position, due, old| becomes(position, due, old, &mut counts))
                .await?;
            match revised {
                Revised::Done(count) => {
                    changed += count;
                    closed.add(counts);
                    (rest, tries) = (after, 0);
                }
                Revised::Otherwise if tries < TRIES => {
                    tries += 1;
                    size = (size / 2).max(LEAST);
                }
                Revised::Otherwise => {
                    let text = format!("claims of {} changed at each of {TRIES} tries", self.key);
                    return Err(StoreError::Unavailable(text));
                }
                Revised::Over => break,
            }
            if rest.is_empty() {
                break;
            }
        }
        Ok((changed, closed))
    }

    /// Changes the claims of a piece, and the sums with them.
    async fn revise(
        &self,
        piece: &[u32],
        end: &'static str,
        mut becomes: impl FnMut(u32, &Due, Claim) -> Option<Claim>,
    ) -> Result<Revised, StoreError> {
        let held = view::claims(self.redis, self.key, piece).await?;
        let (mut swept, mut places, mut before) = (Swept::default(), Vec::new(), Vec::new());
        for (&position, held) in piece.iter().zip(held) {
            let due = usize::try_from(position).ok().and_then(|place| self.seal.due.get(place));
            let Some(due) = due else { continue };
            if let Some(new) = becomes(position, due, held.claim) {
                swept.change(self.seal, due, held.moved.as_ref(), (position, held.claim, new));
                places.push(position);
                before.push(held.claim);
            }
        }
        if places.is_empty() && end.is_empty() {
            return Ok(Revised::Done(0));
        }
        let (shard, names) = keys::of_seal(self.redis, self.key);
        let command = scripts::REVISE
            .call(&[&names.claims, &shard.progress(), &shard.sums()])
            .arg(end_field(self.key))
            .arg(self.must)
            .arg(end);
        let now: Vec<Claim> = swept.changed.iter().map(|(_, claim)| *claim).collect();
        let command = Windows::of(&places).put(command, &before, &now);
        Ok(match self.redis.write::<u64>(put_sums(command, &swept.deltas)).await? {
            1 => Revised::Done(places.len() as u64),
            0 => Revised::Otherwise,
            _ => Revised::Over,
        })
    }
}

/// The field of a seal's end.
fn end_field(key: &SealKey) -> String {
    format!("c{}", key.instant.timestamp())
}
