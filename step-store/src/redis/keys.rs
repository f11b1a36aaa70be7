//! Every key of the step store on Redis. Those of a part have the tag `{s.<part>}`, so a call on a part stays in one slot.

use domain::{Day, Uid};
use plumbing::Redis;

use crate::{ids::Epoch, part};

/// A hash: the pages of a `Day` by number, each its revision (4 bytes) and the page's bytes. It has no time to live: it goes
/// when its `Day` is archived.
pub(super) fn pages(redis: &Redis, part: u32, day: Day) -> String {
    redis.key(format_args!("s.{part}"), format_args!("steps:{day}"))
}

/// A set: the `Day`s that have pages.
pub(super) fn days(redis: &Redis, part: u32) -> String {
    redis.key(format_args!("s.{part}"), "days")
}

/// A set: the ids of a user's reports for four `Day`s, as signed numbers, so that a small set is 8 bytes an id. Its time to
/// live ends when they are no longer wanted.
pub(super) fn ids(redis: &Redis, uid: Uid, epoch: Epoch) -> String {
    redis.key(format_args!("s.{}", part(uid)), format_args!("ids:{}:{uid}", epoch.0))
}

/// A number: the watermark, in ms since 1970.
pub(super) fn frozen(redis: &Redis, part: u32) -> String {
    redis.key(format_args!("s.{part}"), "frozen")
}

/// A sorted set: who was erased within the last minute (8 bytes each), by when that is over.
pub(super) fn erased(redis: &Redis, part: u32) -> String {
    redis.key(format_args!("s.{part}"), "erased")
}

/// A hash of the postings: `last` and `posted` are numbers of them, `bytes` is what is kept.
pub(super) fn feed(redis: &Redis, part: u32) -> String {
    redis.key(format_args!("s.{part}"), "feed")
}

/// A string: who posts what the outboxes hold. It is one for all parts, and lies with the first of them.
pub(super) fn lease(redis: &Redis) -> String {
    redis.key("s.0", "feed_lease")
}

/// A list: the postings up to `last`.
pub(super) fn outbox(redis: &Redis, part: u32) -> String {
    redis.key(format_args!("s.{part}"), "outbox")
}
