//! A seal as bytes, version 1. Numbers are LEB128 varints, texts a length and UTF-8:
//!
//! ```text
//! 1, n, window
//! channels: count, names        zones: count, (name, deadline in Unix seconds)
//! users: count
//! runs until all users are there: slot less the run's before, channel, length,
//!     then (uid - shard) / n of the first, and the differences of it from there on
//! zone indexes, as few bits a user as the zones need and the first in the lowest, where there is more than one zone
//! closed at once: count, (position less the one before, code of the reason)
//! ```
//! A dense seal of one zone takes little more than a byte a user, one of thirty zones five bits more.

use domain::{Instant, ShardCount, Uid, Zone};
use plumbing::{StoreError, varint::put};

use super::{Due, Seal, SealZone};
use crate::{
    Reason,
    fields::{Reader, put_text},
};

const VERSION: u8 = 1;

pub(crate) fn encode(seal: &Seal) -> Vec<u8> {
    // what dense users of many zones take; random ones make it grow a few times
    let mut to = Vec::with_capacity(64 * (1 + seal.zones.len()) + 2 * seal.due.len());
    to.push(VERSION);
    put(&mut to, seal.n.get().into());
    put(&mut to, seal.window.into());
    put(&mut to, seal.channels.len() as u64);
    seal.channels.iter().for_each(|c| put_text(&mut to, c.as_str()));
    put(&mut to, seal.zones.len() as u64);
    for zone in &seal.zones {
        put_text(&mut to, zone.zone.name());
        put(&mut to, zone.deadline.timestamp().unsigned_abs());
    }
    put(&mut to, seal.due.len() as u64);
    let mut slot = 0;
    for run in seal.due.chunk_by(|a, b| (a.slot, a.channel) == (b.slot, b.channel)) {
        put(&mut to, u64::from(run[0].slot - slot));
        slot = run[0].slot;
        put(&mut to, run[0].channel.into());
        put(&mut to, run.len() as u64);
        let index = Index::of(seal.n);
        let mut last = 0;
        for due in run {
            let next = index.at(due.uid);
            put(&mut to, next - last);
            last = next;
        }
    }
    if seal.zones.len() > 1 {
        pack(&mut to, seal.due.iter().map(|d| d.zone), width(seal.zones.len()));
    }
    let closed = seal.due.iter().enumerate().filter_map(|(i, d)| d.closed.map(|r| (i as u64, r)));
    put(&mut to, closed.clone().count() as u64);
    let mut before = 0;
    for (position, reason) in closed {
        put(&mut to, position - before);
        before = position;
        to.push(reason.code());
    }
    to
}

/// How far down the list of its shard's numbers a uid is: `uid / n`. Shards mostly are a power of two, for which a division
/// is a shift.
#[derive(Clone, Copy)]
enum Index {
    Shift(u32),
    Divide(u64),
}

impl Index {
    fn of(n: ShardCount) -> Self {
        if n.is_power_of_two() { Self::Shift(n.trailing_zeros()) } else { Self::Divide(n.get().into()) }
    }

    #[inline]
    fn at(self, uid: Uid) -> u64 {
        match self {
            Self::Shift(bits) => uid.0 >> bits,
            Self::Divide(n) => uid.0 / n,
        }
    }
}

/// The seal of shard `shard` in `bytes`.
pub(crate) fn decode(bytes: &[u8], shard: u32) -> Result<Seal, StoreError> {
    let mut from = Reader::new("seal", bytes);
    if from.byte()? != VERSION {
        return Err(from.bad("its version is unknown"));
    }
    let n = ShardCount::new(from.small()?).ok_or_else(|| from.bad("it has no shards"))?;
    let window = from.small()?;
    let channels = (0..from.count(32)?).map(|_| from.parsed()).collect::<Result<_, _>>()?;
    let mut zones = Vec::new();
    for _ in 0..from.count(256)? {
        let zone: Zone = from.parsed()?;
        zones.push(SealZone { zone, deadline: from.instant()? });
    }
    let count = from.count(bytes.len())?;
    let due = runs(&mut from, count, n, shard)?;
    let mut seal = Seal { n, window, channels, zones, due };
    if seal.zones.len() > 1 {
        let mut packed = Packed { width: width(seal.zones.len()), held: 0, bits: 0 };
        for due in &mut seal.due {
            due.zone = packed.take(&mut from)?;
        }
    }
    let mut position = 0usize;
    for _ in 0..from.count(count)? {
        position += from.count(count)?;
        let reason = Reason::from_code(from.byte()?);
        match (seal.due.get_mut(position), reason) {
            (Some(due), Some(reason)) => due.closed = Some(reason),
            _ => return Err(from.bad("a closed position or its reason is unknown")),
        }
    }
    let whole = seal
        .due
        .iter()
        .all(|d| usize::from(d.zone) < seal.zones.len() && usize::from(d.channel) < seal.channels.len());
    if !whole || !from.done() {
        return Err(from.bad("an index or its length is off"));
    }
    Ok(seal)
}

/// The bits that an index below `count` needs; at most 8, as there are at most 256 zones.
fn width(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

fn pack(to: &mut Vec<u8>, indexes: impl Iterator<Item = u8>, width: u32) {
    let (mut held, mut bits) = (0u16, 0);
    for index in indexes {
        held |= u16::from(index) << bits;
        bits += width;
        if bits >= 8 {
            to.push(held.to_le_bytes()[0]);
            held >>= 8;
            bits -= 8;
        }
    }
    if bits > 0 {
        to.push(held.to_le_bytes()[0]);
    }
}

/// Reads what [`pack`] wrote.
struct Packed {
    width: u32,
    held: u16,
    bits: u32,
}

impl Packed {
    fn take(&mut self, from: &mut Reader<'_>) -> Result<u8, StoreError> {
        if self.bits < self.width {
            self.held |= u16::from(from.byte()?) << self.bits;
            self.bits += 8;
        }
        let index = self.held & ((1 << self.width) - 1);
        self.held >>= self.width;
        self.bits -= self.width;
        Ok(index.to_le_bytes()[0])
    }
}

fn runs(from: &mut Reader<'_>, count: usize, n: ShardCount, shard: u32) -> Result<Vec<Due>, StoreError> {
    let n = u64::from(n.get());
    let mut due = Vec::with_capacity(count);
    let mut slot = 0u32;
    while due.len() < count {
        slot = slot.checked_add(from.small()?).ok_or_else(|| from.bad("a slot is too large"))?;
        let channel = from.byte()?;
        let length = from.count(count - due.len())?;
        if length == 0 {
            return Err(from.bad("a run is empty"));
        }
        let mut index = 0u64;
        for _ in 0..length {
            index = index.checked_add(from.number()?).ok_or_else(|| from.bad("a uid is too large"))?;
            let uid = index.checked_mul(n).and_then(|u| u.checked_add(u64::from(shard)));
            let uid = Uid(uid.ok_or_else(|| from.bad("a uid is too large"))?);
            due.push(Due { uid, slot, channel, zone: 0, closed: None });
        }
    }
    Ok(due)
}

/// The instant of a number of Unix seconds.
pub(crate) fn instant(seconds: u64) -> Option<Instant> {
    i64::try_from(seconds).ok().and_then(|s| Instant::from_timestamp(s, 0))
}

#[cfg(test)]
mod tests {
    use domain::{Shard, slot};
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn sample(uids: &[u64], n: u32, zones: u8) -> (Seal, u32) {
        let n = ShardCount::new(n).unwrap();
        let shard = Shard::of(Uid(uids.first().copied().unwrap_or(0)), n);
        let names = ["Europe/Berlin", "Europe/Paris", "Europe/Rome"];
        let deadline = Instant::from_timestamp(1_780_000_000, 0).unwrap();
        let due = uids.iter().filter(|&&u| Shard::of(Uid(u), n) == shard).map(|&u| Due {
            uid: Uid(u),
            slot: slot(Uid(u), 60),
            channel: u8::from(u % 3 == 0),
            zone: u8::try_from(u % u64::from(zones)).unwrap(),
            closed: (u % 11 == 0).then_some(Reason::ZoneMoved),
        });
        let mut seal = Seal {
            n,
            window: 60,
            channels: vec!["stub".parse().unwrap(), "webhook".parse().unwrap()],
            zones: names[..usize::from(zones)]
                .iter()
                .map(|z| SealZone { zone: z.parse().unwrap(), deadline })
                .collect(),
            due: due.collect(),
        };
        seal.due.sort_by_key(|d| d.uid);
        seal.due.dedup_by_key(|d| d.uid);
        seal.sort();
        (seal, shard.0)
    }

    #[test]
    fn a_dense_seal_takes_less_than_two_bytes_a_user() {
        let uids: Vec<u64> = (0..400_000).filter(|u| u % 4 == 1 && u % 11 != 0).collect();
        let (seal, _) = sample(&uids, 4, 1);
        let bytes = encode(&seal).len();
        assert!(bytes < seal.due.len() * 2, "{bytes} for {}", seal.due.len());
    }

    #[test]
    fn indexes_take_as_few_bits_as_they_need() {
        for (count, bits) in [(2, 1), (3, 2), (4, 2), (5, 3), (30, 5), (256, 8)] {
            assert_eq!(width(count), bits, "{count}");
        }
        let mut bytes = Vec::new();
        pack(&mut bytes, [1, 29, 17].into_iter(), 5);
        assert_eq!(bytes, [0b1010_0001, 0b0100_0111]);
    }

    proptest! {
        #[test]
        fn packed_indexes_come_back(indexes in prop::collection::vec(any::<u8>(), 0..50), count in 2usize..=256) {
            let indexes: Vec<_> = indexes.into_iter().map(|i| u8::try_from(usize::from(i) % count).unwrap()).collect();
            let mut bytes = Vec::new();
            pack(&mut bytes, indexes.iter().copied(), width(count));
            let mut from = Reader::new("seal", &bytes);
            let mut packed = Packed { width: width(count), held: 0, bits: 0 };
            for index in indexes {
                prop_assert_eq!(packed.take(&mut from).unwrap(), index);
            }
            prop_assert!(from.done());
        }

        #[test]
        fn reads_what_it_writes(uids in prop::collection::vec(any::<u64>(), 0..300), n in 1u32..70, zones in 1u8..=3) {
            let (seal, shard) = sample(&uids, n, zones);
            prop_assert_eq!(decode(&encode(&seal), shard).unwrap(), seal);
        }

        #[test]
        fn never_panics_on_rubbish(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode(&bytes, 0);
        }

        #[test]
        fn never_panics_on_a_damaged_one(at in 0usize..400, byte in any::<u8>(), cut in 0usize..400) {
            let (seal, shard) = sample(&(0..200).collect::<Vec<_>>(), 1, 2);
            let mut bytes = encode(&seal);
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes.truncate(cut.max(1));
            let _ = decode(&bytes, shard);
        }
    }
}
