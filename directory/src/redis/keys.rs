//! The keys, all of a part under one hash tag, `d.<part>`, so that a user's record and page lie in one slot:
//!
//! ```text
//! u:<uid>   string   the record
//! pages     hash     by page number: the page
//! log       list     the last 1,024 changes: 16 hexadecimal digits of the mark, then the page's number
//! head      hash     number, mark: of the last change
//! zones     hash     now:<zone>: users in it; was:<zone>: users who moved out of it
//! ```

use domain::Uid;
use plumbing::{EntryKeys, Redis};

use crate::{log::part_of, page::place::page_of};

/// Makes the keys of one part.
pub(super) struct Keys<'a> {
    redis: &'a Redis,
    tag: String,
}

impl<'a> Keys<'a> {
    pub(super) fn of(redis: &'a Redis, part: u32) -> Self {
        Self { redis, tag: format!("d.{part}") }
    }

    pub(super) fn pages(&self) -> String {
        self.redis.key(&self.tag, "pages")
    }

    pub(super) fn log(&self) -> String {
        self.redis.key(&self.tag, "log")
    }

    pub(super) fn head(&self) -> String {
        self.redis.key(&self.tag, "head")
    }

    pub(super) fn zones(&self) -> String {
        self.redis.key(&self.tag, "zones")
    }

    /// The record of a user of this part.
    pub(super) fn record(&self, uid: Uid) -> String {
        self.redis.key(&self.tag, format_args!("u:{uid}"))
    }
}

/// The records of any users.
pub(super) fn records(redis: &Redis, uids: &[Uid]) -> EntryKeys {
    let mut keys = redis.entry_keys("d", "u:", uids.len());
    uids.iter().for_each(|uid| keys.push(part_of_user(*uid).into(), uid.0));
    keys
}

/// The part that a user is in.
pub(super) fn part_of_user(uid: Uid) -> u32 {
    part_of(page_of(uid))
}
