use std::collections::{BTreeMap, HashMap};

use domain::{Day, Uid};

/// Neighbours whose numbers stand together.
const SLOTS: usize = 32;
const BLOCK: u64 = SLOTS as u64;
/// A user without an entry.
const ABSENT: u32 = u32::MAX;
/// The most `Day`s that are kept: more are never open at once, with yesterday in every zone.
const MOST_DAYS: usize = 5;

type Block = [u32; SLOTS];

/// The numbers of one part, by `Day`: 4 bytes a user where uids are dense.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Days(BTreeMap<Day, HashMap<u64, Box<Block>>>);

impl Days {
    pub(super) fn get(&self, day: Day, uid: Uid) -> Option<u32> {
        let block = self.0.get(&day)?.get(&(uid.0 / BLOCK))?;
        Some(block[slot(uid)]).filter(|steps| *steps != ABSENT)
    }

    /// Writes a number, or takes it out. Of too many `Day`s the oldest goes.
    pub(super) fn set(&mut self, day: Day, uid: Uid, steps: Option<u32>) {
        let blocks = match steps {
            Some(_) => self.0.entry(day).or_default(),
            None => match self.0.get_mut(&day) {
                Some(blocks) => blocks,
                None => return,
            },
        };
        let block = blocks.entry(uid.0 / BLOCK).or_insert_with(|| Box::new([ABSENT; SLOTS]));
        block[slot(uid)] = steps.unwrap_or(ABSENT);
        if self.0.len() > MOST_DAYS {
            self.0.pop_first();
        }
    }

    /// The `Day`s that are worth reading of those that a store has.
    pub(super) fn wanted(all: &[Day]) -> &[Day] {
        &all[all.len().saturating_sub(MOST_DAYS)..]
    }

    pub(super) fn memory(&self) -> usize {
        let blocks = self.0.values().map(|blocks| {
            blocks.len() * size_of::<Block>()
                + blocks.capacity() * (size_of::<u64>() + size_of::<usize>() + 1)
        });
        blocks.sum()
    }
}

fn slot(uid: Uid) -> usize {
    usize::try_from(uid.0 % BLOCK).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: u32) -> Day {
        Day::from_number(number).unwrap()
    }

    #[test]
    fn what_is_set_is_there_and_the_oldest_day_goes() {
        let mut days = Days::default();
        for (number, uid) in [(20_260_607, 0), (20_260_607, 31), (20_260_608, u64::MAX)] {
            days.set(day(number), Uid(uid), Some(7));
            assert_eq!(days.get(day(number), Uid(uid)), Some(7));
        }
        assert_eq!((days.get(day(20_260_607), Uid(1)), days.get(day(20_260_609), Uid(0))), (None, None));
        days.set(day(20_260_607), Uid(31), None);
        days.set(day(20_260_601), Uid(31), None);
        assert_eq!(days.get(day(20_260_607), Uid(31)), None);
        (8..=13).for_each(|n| days.set(day(20_260_600 + n), Uid(1), Some(n)));
        assert_eq!((days.get(day(20_260_607), Uid(0)), days.get(day(20_260_609), Uid(1))), (None, Some(9)));
        let all: Vec<_> = (1..=9).map(|n| day(20_260_600 + n)).collect();
        assert_eq!(Days::wanted(&all), &all[4..]);
        assert_eq!(Days::wanted(&all[..2]), &all[..2]);
    }
}
