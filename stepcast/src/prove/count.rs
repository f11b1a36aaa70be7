use std::collections::{BTreeMap, HashMap};

use domain::Uid;

/// How often each identity of a night was received: some 20 bytes a user.
#[derive(Default)]
pub(crate) struct Count {
    /// By uid: the first device of each user.
    first: HashMap<u64, Tally>,
    /// By uid and mark: further devices.
    further: BTreeMap<(u64, u64), Tally>,
}

/// What was received of one user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    /// Receipts, of all devices together.
    pub(crate) all: u32,
    /// Receipts of the one identity that has most.
    pub(crate) most: u32,
}

/// Receipts of one identity, up to 127, and in the uppermost bit whether the ledger knows its user.
#[derive(Clone, Copy, Default)]
struct Tally(u8);

const KNOWN: u8 = 1 << 7;

impl Tally {
    fn raise(&mut self) {
        self.0 = self.0 & KNOWN | (self.0 & !KNOWN).saturating_add(1).min(!KNOWN);
    }

    fn know(&mut self) -> u32 {
        self.0 |= KNOWN;
        u32::from(self.0 & !KNOWN)
    }

    fn is_known(self) -> bool {
        self.0 & KNOWN != 0
    }
}

impl Count {
    /// Counts one receipt.
    pub(crate) fn note(&mut self, uid: Uid, device: Option<u64>) {
        match device {
            None => self.first.entry(uid.0).or_default().raise(),
            Some(mark) => self.further.entry((uid.0, mark)).or_default().raise(),
        }
    }

    /// What was received of a user whom the ledger knows.
    pub(crate) fn of(&mut self, uid: Uid) -> Received {
        let mut received = Received::default();
        let mut add = |count: u32| {
            received.all += count;
            received.most = received.most.max(count);
        };
        if let Some(tally) = self.first.get_mut(&uid.0) {
            add(tally.know());
        }
        if !self.further.is_empty() {
            let devices = self.further.range_mut((uid.0, 0)..=(uid.0, u64::MAX));
            devices.for_each(|(_, tally)| add(tally.know()));
        }
        received
    }

    /// Users and devices that were never asked for: the ledger does not know them.
    pub(crate) fn strangers(&self) -> impl Iterator<Item = (Uid, Option<u64>)> {
        let first = self.first.iter().filter(|(_, t)| !t.is_known()).map(|(&uid, _)| (Uid(uid), None));
        let further = self.further.iter().filter(|(_, t)| !t.is_known());
        first.chain(further.map(|(&(uid, mark), _)| (Uid(uid), Some(mark))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_count_apart() {
        let mut count = Count::default();
        for (uid, device) in
            [(1, None), (1, Some(0)), (1, Some(u64::MAX)), (1, Some(0)), (2, None), (3, Some(5))]
        {
            count.note(Uid(uid), device);
        }
        assert_eq!(count.of(Uid(1)), Received { all: 4, most: 2 });
        assert_eq!(count.of(Uid(2)), Received { all: 1, most: 1 });
        assert_eq!(count.of(Uid(9)), Received::default());
        assert_eq!(count.strangers().collect::<Vec<_>>(), [(Uid(3), Some(5))]);
        count.note(Uid(4), None);
        assert_eq!(count.strangers().count(), 2);
    }

    #[test]
    fn the_count_of_one_has_an_end() {
        let mut count = Count::default();
        (0..1_000).for_each(|_| count.note(Uid(1), None));
        assert_eq!(count.of(Uid(1)), Received { all: 127, most: 127 });
        count.note(Uid(1), None);
        assert_eq!((count.of(Uid(1)).all, count.strangers().count()), (127, 0));
    }
}
