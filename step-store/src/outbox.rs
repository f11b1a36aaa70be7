use domain::Uid;
use plumbing::StoreError;

use crate::Posting;

/// The most bytes of postings that a part keeps. What is older is dropped.
pub(crate) const MOST_KEPT: usize = 1 << 20;

/// The most bytes of postings that are read at once, but for the first of them.
pub(crate) const MOST_READ: usize = 128 << 10;

/// How many pages a piece of [`Totals`] has, or about so many.
pub(crate) const MOST_PAGES: usize = 128;

/// The postings of a part that are still to be posted: the oldest, up to a bound in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbox {
    /// The number of the first of `postings`, or the one that the next will get where there is none. Where it is not
    /// `posted + 1`, those between are lost: a reader of the feed sees the gap and reads the part again.
    pub first: u64,
    /// Numbered one after another.
    pub postings: Vec<Posting>,
    /// The highest number that was said to be posted; 0 at first.
    pub posted: u64,
    /// The highest number of the part; 0 at first.
    pub last: u64,
}

/// How far a part's postings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Another one when the server was started again or another took over: what it had answered before may be gone. It may
    /// change without that, too, as when a primary gets its first replica.
    pub lineage: u64,
    /// The highest number of the part; 0 at first.
    pub last: u64,
}

/// A piece of a part's numbers on one `Day`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Users and their numbers, in no certain order; some may come again in a later piece.
    pub totals: Vec<(Uid, u32)>,
    /// Where the next piece begins; `None` after the last.
    pub next: Option<Cursor>,
}

/// Where in a part a piece of [`Totals`] begins. Good for the store that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(pub(crate) u64);

/// The error where what is asked for lies on a page that cannot be read.
pub(crate) fn unreadable(detail: impl ToString) -> StoreError {
    StoreError::corrupt("a page of the step store", detail)
}
