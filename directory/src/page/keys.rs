//! The keys of a page in rising order, their number known, in the shorter of two forms:
//!
//! ```text
//! form     u8          0 to 48: packed, so many bits each; 64: runs
//! packed:  first u48, little-endian, then for each further key its distance from the one before less 1, as bits
//! runs:    n           how many runs of keys without a gap, then for each: the distance of its first key from the end of
//!                      the run before (n), its length less 1 (n)
//! ```
//!
//! So dense uids cost a few bytes a page, and random ones the bits of their mean distance and two or three more.

use plumbing::varint;

use super::{
    bad::{BadPage, take_bytes, take_up_to},
    bits::{Bits, pack, packed_bytes, width_of},
    place::KEY_BITS,
};

const RUNS: u8 = 64;
/// How many bytes the first key takes.
const FIRST: usize = 6;
const BAD: BadPage = BadPage::Field("its keys do not rise or are too large");

/// Appends keys, which rise and are below 2^48.
pub(super) fn put(to: &mut Vec<u8>, keys: impl Iterator<Item = u64> + Clone) {
    let (mut runs, mut count, mut length, mut end) = (Vec::new(), 0u64, 0u64, 0u64);
    for key in keys.clone() {
        if length > 0 && key == end {
            length += 1;
        } else {
            close(&mut runs, length);
            varint::put(&mut runs, key - end);
            (count, length) = (count + 1, 1);
        }
        end = key + 1;
    }
    close(&mut runs, length);
    let gaps = keys.clone().zip(keys.clone().skip(1)).map(|(before, key)| key - before - 1);
    let width = width_of(gaps.clone().max().unwrap_or(0));
    let packed = packed_bytes(gaps.clone().count(), width);
    if packed + FIRST <= runs.len() {
        to.push(width.to_le_bytes()[0]);
        to.extend_from_slice(&keys.clone().next().unwrap_or(0).to_le_bytes()[..FIRST]);
        pack(to, gaps, width);
    } else {
        to.push(RUNS);
        varint::put(to, count);
        to.append(&mut runs);
    }
}

fn close(runs: &mut Vec<u8>, length: u64) {
    if let Some(more) = length.checked_sub(1) {
        varint::put(runs, more);
    }
}

/// Reads keys in turn; past their end it goes on with some number.
#[derive(Clone, Debug)]
pub(super) enum Keys<'a> {
    Packed { next: u64, bits: Bits<'a> },
    Runs { next: u64, left: u64, rest: &'a [u8] },
}

impl<'a> Keys<'a> {
    /// Takes `count` keys off the front. What is wrong with them is found here, not later.
    pub(super) fn take(from: &mut &'a [u8], count: usize) -> Result<Self, BadPage> {
        let form = take_bytes(from, 1)?[0];
        let width = u32::from(form);
        if form == RUNS {
            Self::take_runs(from, count)
        } else if width <= KEY_BITS {
            let mut first = [0; 8];
            first[..FIRST].copy_from_slice(take_bytes(from, FIRST)?);
            let next = u64::from_le_bytes(first);
            let bits = Bits::new(take_bytes(from, packed_bytes(count.saturating_sub(1), width))?, width);
            let mut all = bits.clone();
            // at most 2^18 distances of 48 bits: no sum overflows
            let last = (1..count).fold(next, |key, _| key.saturating_add(all.next() + 1));
            if last >> KEY_BITS == 0 { Ok(Self::Packed { next, bits }) } else { Err(BAD) }
        } else {
            Err(BAD)
        }
    }

    fn take_runs(from: &mut &'a [u8], count: usize) -> Result<Self, BadPage> {
        let runs = take_up_to(from, count, "it has more runs of keys than keys")?;
        let start = *from;
        let (mut left, mut end) = (count, 0u64);
        for run in 0..runs {
            let gap = varint::take(from)?;
            if gap == 0 && run > 0 {
                return Err(BAD);
            }
            let more = take_up_to(from, count, "a run of keys is too long")?;
            left = left.checked_sub(more + 1).ok_or(BAD)?;
            let more = u64::try_from(more).map_err(|_| BAD)?;
            end = end.checked_add(gap).and_then(|end| end.checked_add(more + 1)).ok_or(BAD)?;
        }
        if left > 0 || end > 1 << KEY_BITS {
            return Err(BAD);
        }
        Ok(Self::Runs { next: 0, left: 0, rest: &start[..start.len() - from.len()] })
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        match self {
            Self::Packed { next, bits } => {
                let key = *next;
                *next = key.wrapping_add(bits.next() + 1);
                key
            }
            Self::Runs { next, left, rest } => {
                if *left == 0 {
                    *next = next.wrapping_add(varint::take(rest).unwrap_or(0));
                    *left = varint::take(rest).unwrap_or(0).saturating_add(1);
                }
                *left -= 1;
                let key = *next;
                *next = key.wrapping_add(1);
                key
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn written(keys: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, keys.iter().copied());
        bytes
    }

    #[test]
    fn dense_keys_cost_next_to_nothing_and_random_ones_their_distance() {
        assert_eq!(written(&[]), [64, 0]);
        assert_eq!(written(&[9]), [64, 1, 9, 0]);
        let dense: Vec<_> = (512..1_536).collect();
        assert_eq!(written(&dense), [64, 1, 0x80, 4, 0xff, 7]);
        let blocks: Vec<_> = (0..6u64).flat_map(|block| (0..256).map(move |n| (block << 32) + n)).collect();
        assert!(written(&blocks).len() < 50);
        let even: Vec<_> = (0..256).map(|n| n * 2).collect();
        assert_eq!(written(&even).len(), 39);
    }

    fn keys() -> impl Strategy<Value = BTreeSet<u64>> {
        let random = prop::collection::btree_set(0u64..1 << KEY_BITS, 0..200);
        prop_oneof![prop::collection::btree_set(0u64..300, 0..200), random]
    }

    proptest! {
        #[test]
        fn keys_are_read_as_they_were_written(keys in keys()) {
            let bytes = written(&keys.iter().copied().collect::<Vec<_>>());
            let mut from = &bytes[..];
            let mut read = Keys::take(&mut from, keys.len()).unwrap();
            prop_assert!(from.is_empty());
            for key in keys {
                prop_assert_eq!(read.next(), key);
            }
        }

        #[test]
        fn rubbish_is_refused_or_rises(bytes: Vec<u8>, count in 0usize..400) {
            if let Ok(mut keys) = Keys::take(&mut &bytes[..], count) {
                let keys: Vec<_> = (0..count).map(|_| keys.next()).collect();
                prop_assert!(keys.is_sorted_by(|a, b| a < b));
                prop_assert!(keys.last().is_none_or(|last| *last < 1 << KEY_BITS));
            }
        }
    }
}
