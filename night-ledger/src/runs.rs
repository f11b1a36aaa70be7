//! Positions as runs of neighbours: the users of a chunk mostly are.

use plumbing::{StoreError, varint::put};

use crate::fields::Reader;

/// A set of positions, kept as ascending runs that neither touch nor overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs(Vec<(u32, u32)>);

impl Runs {
    /// The set of these positions, in any order.
    pub(crate) fn of(positions: impl IntoIterator<Item = u32>) -> Self {
        let mut positions: Vec<u32> = positions.into_iter().collect();
        positions.sort_unstable();
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for position in positions {
            match runs.last_mut() {
                Some((_, last)) if position <= last.saturating_add(1) => *last = position,
                _ => runs.push((position, position)),
            }
        }
        Self(runs)
    }

    pub(crate) fn contains(&self, position: u32) -> bool {
        let after = self.0.partition_point(|&(first, _)| first <= position);
        after.checked_sub(1).is_some_and(|at| position <= self.0[at].1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The positions, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|&(first, last)| first..=last)
    }

    /// Appends the runs: for each as varints how far its first position lies behind the last one of the run before (behind
    /// -1 the first), less 1, and how many follow the first one.
    pub(crate) fn encode(&self, to: &mut Vec<u8>) {
        let mut next = 0;
        for &(first, last) in &self.0 {
            put(to, u64::from(first) - next);
            put(to, u64::from(last - first));
            next = u64::from(last) + 1;
        }
    }

    /// Reads runs up to the end of an entry.
    pub(crate) fn decode(from: &mut Reader<'_>) -> Result<Self, StoreError> {
        let (mut runs, mut next) = (Vec::new(), 0u32);
        while !from.done() {
            let (first, more) = (next.checked_add(from.small()?), from.small()?);
            let last = first.and_then(|first| first.checked_add(more));
            let (Some(first), Some(last)) = (first, last) else {
                return Err(from.bad("a position is too large"));
            };
            runs.push((first, last));
            match last.checked_add(1) {
                Some(after) => next = after,
                None if from.done() => break,
                None => return Err(from.bad("a position is too large")),
            }
        }
        Ok(Self(runs))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_chunk_takes_few_bytes() {
        let mut bytes = Vec::new();
        Runs::of(7_000..8_000).encode(&mut bytes);
        assert_eq!(bytes, [0xd8, 0x36, 0xe7, 0x07]);
    }

    proptest! {
        #[test]
        fn reads_what_it_writes(positions in prop::collection::vec(prop_oneof![0u32..300, any::<u32>(), Just(u32::MAX)], 0..200)) {
            let (set, runs): (BTreeSet<u32>, _) = (positions.iter().copied().collect(), Runs::of(positions));
            prop_assert_eq!(runs.iter().collect::<Vec<_>>(), set.iter().copied().collect::<Vec<_>>());
            prop_assert!((0..310).all(|p| runs.contains(p) == set.contains(&p)));
            let mut bytes = Vec::new();
            runs.encode(&mut bytes);
            prop_assert_eq!(Runs::decode(&mut Reader::new("runs", &bytes)).unwrap(), runs);
        }

        #[test]
        fn never_panics_on_rubbish(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(runs) = Runs::decode(&mut Reader::new("runs", &bytes)) {
                let _ = runs.contains(7);
            }
        }
    }
}
