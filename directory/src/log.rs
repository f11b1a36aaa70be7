//! The change log: for each of 64 parts of the directory the last changes of its pages, so that who keeps a copy can
//! follow. A part's changes are numbered from 1 without a gap; each has a mark that hangs on all before it. Who comes with a
//! number and its mark learns what came after; who has a mark that is not in the log (it is too old, or the store lost
//! what it had answered) reads the part anew.

use xxhash_rust::xxh3::Xxh3;

use crate::page::place::PAGES;

/// How many parts the pages are dealt to: part = page % 64.
pub const PARTS: u32 = 64;
/// How many changes of a part the log keeps: as many as a part has pages, past that reading anew is no more work.
pub(crate) const KEPT: u64 = (PAGES / PARTS) as u64;

/// How far someone has followed a part. The default is the time before the first change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub(crate) number: u64,
    pub(crate) mark: u64,
}

/// What changed in a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The position after these changes.
    pub upto: Position,
    /// The pages that changed, in order, each once; some may be gone.
    pub pages: Vec<u32>,
    /// The log does not reach back to the position: `pages` are all pages that there are.
    pub whole: bool,
}

/// The part of a page.
pub(crate) fn part_of(page: u32) -> u32 {
    page % PARTS
}

impl Position {
    /// The position after one more change.
    pub(crate) fn after(self, page: u32, stamp: u64) -> Self {
        let mut hash = Xxh3::new();
        hash.update(&self.mark.to_le_bytes());
        hash.update(&page.to_le_bytes());
        hash.update(&stamp.to_le_bytes());
        Self { number: self.number.saturating_add(1), mark: hash.digest() }
    }
}
