//! The keys, all of a part under one hash tag, `s.<part>`, so that a page, its users' ids, the watermark and the outbox lie in
//! one slot:
//!
//! ```text
//! steps:<day>:<page>   string   the revision (u32, little-endian), then the page
//! ids:<epoch>:<uid>    set      ids of a user's reports, as signed numbers: an intset while it is small
//! groups:<day>         set      groups of 8 pages, page / 64 / 8, of which some has been written
//! days                 set      Days with a page, as 20260607
//! frozen               string   the watermark, in ms since 1970
//! erased               hash     uid: until when reports are refused, in ms since 1970
//! feed                 hash     last, posted: numbers of postings; bytes: of the outbox
//! outbox               list     postings not yet posted, without a gap up to the last
//! ```

use std::ops::Range;

use domain::{Day, Uid};
use plumbing::{EntryKeys, Redis};

use crate::{PARTS, ids::Epoch};

/// Pages of a part that stand in its index together.
const GROUP: u64 = 8;

/// Makes the keys of one part.
pub(super) struct Keys<'a> {
    redis: &'a Redis,
    tag: String,
}

impl<'a> Keys<'a> {
    pub(super) fn of(redis: &'a Redis, part: u32) -> Self {
        Self { redis, tag: format!("s.{part}") }
    }

    pub(super) fn page(&self, day: Day, page: u64) -> String {
        self.redis.key(&self.tag, format_args!("steps:{day}:{page}"))
    }

    pub(super) fn ids(&self, epoch: Epoch, uid: Uid) -> String {
        self.redis.key(&self.tag, format_args!("ids:{}:{uid}", epoch.0))
    }

    pub(super) fn groups(&self, day: Day) -> String {
        self.redis.key(&self.tag, format_args!("groups:{day}"))
    }

    pub(super) fn days(&self) -> String {
        self.redis.key(&self.tag, "days")
    }

    pub(super) fn frozen(&self) -> String {
        self.redis.key(&self.tag, "frozen")
    }

    pub(super) fn erased(&self) -> String {
        self.redis.key(&self.tag, "erased")
    }

    pub(super) fn feed(&self) -> String {
        self.redis.key(&self.tag, "feed")
    }

    pub(super) fn outbox(&self) -> String {
        self.redis.key(&self.tag, "outbox")
    }
}

/// The pages of a `Day` with these numbers, of any parts.
pub(super) fn pages(redis: &Redis, day: Day, numbers: impl ExactSizeIterator<Item = u64>) -> EntryKeys {
    let mut keys = redis.entry_keys("s", format_args!("steps:{day}:"), numbers.len());
    numbers.for_each(|page| keys.push(page % u64::from(PARTS), page));
    keys
}

/// The group of a page.
pub(super) fn group_of(page: u64) -> u64 {
    page / u64::from(PARTS) / GROUP
}

/// The pages of a part's group.
pub(super) fn pages_of(part: u32, group: u64) -> impl Iterator<Item = u64> {
    let places: Range<u64> = 0..GROUP;
    let parts = u64::from(PARTS);
    places.filter_map(move |place| {
        group.checked_mul(GROUP)?.checked_add(place)?.checked_mul(parts)?.checked_add(part.into())
    })
}
