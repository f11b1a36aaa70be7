//! The rows of a page: who, and numbers that stand for the rest. What the numbers stand for is kept elsewhere: in a
//! store's page beside them, in a scheduler's column once for all its pages.
//!
//! ```text
//! users    n       how many rows, at most 262,144
//! keys             as `keys` has them
//! zones, kinds, due_from
//!                  three lists, one number a row, as `numbers` has them
//! moved    n       how many rows are of users who moved, then for each: how many rows that did not lie before it (n),
//!                  the zone before (n), its last day as the number 20260607 (n)
//! ```

use plumbing::varint;

use super::{
    bad::{BadPage, take_up_to},
    keys::{self, Keys},
    numbers::{self, Numbers},
};

/// The most users a page may have: 65,536 pages hold 17 thousand million.
pub(crate) const MOST_USERS: usize = 1 << 18;

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The place of the uid in its page.
    pub(crate) key: u64,
    pub(crate) zone: u32,
    pub(crate) kind: u32,
    /// Minutes since 1970.
    pub(crate) due_from: u32,
    /// The zone before and its last day.
    pub(crate) moved: Option<(u32, u32)>,
}

/// Appends the rows, which are in the order of their keys.
pub(crate) fn put(to: &mut Vec<u8>, lines: &[Line]) {
    varint::put(to, lines.len() as u64);
    keys::put(to, lines.iter().map(|line| line.key));
    numbers::put(to, lines.iter().map(|line| line.zone));
    numbers::put(to, lines.iter().map(|line| line.kind));
    numbers::put(to, lines.iter().map(|line| line.due_from));
    varint::put(to, lines.iter().filter(|line| line.moved.is_some()).count() as u64);
    let mut before = 0u64;
    for line in lines {
        match line.moved {
            Some((zone, last)) => {
                [before, zone.into(), last.into()].into_iter().for_each(|number| varint::put(to, number));
                before = 0;
            }
            None => before += 1,
        }
    }
}

/// Reads the rows in turn.
#[derive(Clone, Debug)]
pub(crate) struct Body<'a> {
    left: usize,
    keys: Keys<'a>,
    zones: Numbers<'a>,
    kinds: Numbers<'a>,
    due_from: Numbers<'a>,
    moved: Moves<'a>,
}

/// How many things the numbers may stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) zones: usize,
    pub(crate) kinds: usize,
}

impl<'a> Body<'a> {
    /// Takes the rows off the front. What is wrong with them is found here, not later.
    pub(crate) fn take(from: &mut &'a [u8], known: Known) -> Result<Self, BadPage> {
        let users = take_up_to(from, MOST_USERS, "it has too many users")?;
        let keys = Keys::take(from, users)?;
        let mut list = |known, what| match last(known) {
            Some(most) => Numbers::take(from, users, most, what),
            None if users == 0 => Numbers::take(from, 0, u32::MAX, what),
            None => Err(BadPage::Field(what)),
        };
        let zones = list(known.zones, "a zone is not in its table")?;
        let kinds = list(known.kinds, "a kind is not in its table")?;
        let due_from = Numbers::take(from, users, u32::MAX, "an instant is too late")?;
        let moved = Moves::take(from, users, known.zones)?;
        Ok(Self { left: users, keys, zones, kinds, due_from, moved })
    }
}

impl Iterator for Body<'_> {
    type Item = Line;

    #[inline]
    fn next(&mut self) -> Option<Line> {
        self.left = self.left.checked_sub(1)?;
        Some(Line {
            key: self.keys.next(),
            zone: self.zones.next(),
            kind: self.kinds.next(),
            due_from: self.due_from.next(),
            moved: self.moved.next(),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// The number of the last of so many things.
fn last(known: usize) -> Option<u32> {
    u32::try_from(known.checked_sub(1)?).ok()
}

/// Reads the moves in turn.
#[derive(Clone, Debug)]
struct Moves<'a> {
    /// How many rows come before the next that moved.
    before: usize,
    next: (u32, u32),
    left: &'a [u8],
}

impl<'a> Moves<'a> {
    fn take(from: &mut &'a [u8], users: usize, zones: usize) -> Result<Self, BadPage> {
        const WRONG: &str = "a move is wrong";
        let moved = take_up_to(from, users, WRONG)?;
        let start = *from;
        let mut places = users;
        for _ in 0..moved {
            let before = take_up_to(from, places, WRONG)?;
            places = places.checked_sub(before + 1).ok_or(BadPage::Field(WRONG))?;
            let zone = take_up_to(from, usize::MAX, WRONG)?;
            let last = u32::try_from(varint::take(from)?);
            if zone >= zones || last.is_err() {
                return Err(BadPage::Field(WRONG));
            }
        }
        let mut moves = Self { before: 0, next: (0, 0), left: &start[..start.len() - from.len()] };
        moves.step();
        Ok(moves)
    }

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        if self.before > 0 {
            self.before -= 1;
            return None;
        }
        let next = self.next;
        self.step();
        Some(next)
    }

    /// Goes to the next row that moved.
    fn step(&mut self) {
        let mut number = || varint::take(&mut self.left).ok();
        let mut take = || {
            let before = usize::try_from(number()?).ok()?;
            Some((before, (u32::try_from(number()?).ok()?, u32::try_from(number()?).ok()?)))
        };
        (self.before, self.next) = take().unwrap_or((usize::MAX, (0, 0)));
    }
}

#[cfg(test)]
#[path = "body/tests.rs"]
mod tests;
