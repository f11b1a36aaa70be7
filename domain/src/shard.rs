use std::{fmt, num::NonZeroU32};

use serde::{Deserialize, Serialize};

use crate::Uid;

/// How many shards a night has: N of `uid % N`.
pub type ShardCount = NonZeroU32;

/// A scheduler's part of the users: those with `uid % N` equal to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shard(pub u32);

impl Shard {
    /// The shard of a user among `n`.
    #[inline]
    pub fn of(uid: Uid, n: ShardCount) -> Self {
        let rest = uid.0 % u64::from(n.get());
        Self(u32::try_from(rest).unwrap_or_default())
    }

    /// All shards of `n`.
    pub fn all(n: ShardCount) -> impl Iterator<Item = Shard> {
        (0..n.get()).map(Shard)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The second of the window at which a user is due: `xxh3_64(uid as 8 little-endian bytes) % window`.
/// A window of 0 is "on the dot": everybody in slot 0.
#[inline]
pub fn slot(uid: Uid, window: u32) -> u32 {
    if window == 0 {
        return 0;
    }
    let hash = xxhash_rust::xxh3::xxh3_64(&uid.0.to_le_bytes());
    u32::try_from(hash % u64::from(window)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seals and "when is X due?" depend on these for ever.
    #[test]
    fn slots_are_fixed() {
        assert_eq!([1, 2, 1001, u64::MAX].map(|u| slot(Uid(u), 60)), GOLDEN);
        assert_eq!(xxhash_rust::xxh3::xxh3_64(&1001u64.to_le_bytes()), 0x9105_f4c3_32a4_e285);
        assert_eq!(slot(Uid(7), 0), 0);
        assert_eq!(xxhash_rust::xxh3::xxh3_64(b""), 0x2d06_8005_38d3_94c2);
    }

    /// Computed with another implementation, Python's xxhash 4.1.0 (`xxh3_64_intdigest`), modulo 60.
    const GOLDEN: [u32; 4] = [38, 7, 37, 47];

    #[test]
    fn slots_are_spread_evenly() {
        let mut count = [0u32; 60];
        (0..60_000).for_each(|u| count[slot(Uid(u), 60) as usize] += 1);
        assert!(count.iter().all(|&c| (850..1150).contains(&c)), "{count:?}");
    }
}
