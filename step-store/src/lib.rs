//! What people walked, keyed by `Day`: midnight is a change of key, never a write.

mod embedded;
mod entry;
mod erased;
#[cfg(fuzzing)]
pub mod fuzzing;
mod ids;
mod key;
mod outbox;
mod page;
mod posting;
mod redis;
mod report;
mod source;
mod work;

pub use self::redis::RedisSteps;
use std::time::Duration;

use async_trait::async_trait;
use domain::{Day, Instant, Uid};
pub use embedded::EmbeddedSteps;
pub use entry::{Entry, Kind, Read, SourceTotal};
pub use key::key;
pub use outbox::{Cursor, Outbox, Position, Totals};
use page::Page;
pub use plumbing::StoreError;
pub use posting::{Changed, Posting};
pub use report::{Amount, Refusal, Report, Reported};
pub use source::{BadReportId, BadSource, ReportId, Source};

/// Parts that users are dealt to, numbered from 0. A part has one watermark and one sequence of postings.
pub const PARTS: u32 = 64;

/// The most steps a user-day may hold (spec: above it a report is refused, `too_many`).
pub const MOST_STEPS: u32 = 200_000;

/// The most sources that may report for one user-day (spec).
pub const MOST_SOURCES: usize = 8;

/// The most reports one call may hold, on every engine.
pub const MOST_REPORTS: usize = 10_000;

/// The part of a user: neighbours of one page are in one.
pub fn part(uid: Uid) -> u32 {
    u32::try_from(Page::number_of(uid) % u64::from(PARTS)).unwrap_or(0)
}

/// The port of the step store.
#[async_trait]
pub trait StepStore: Send + Sync {
    /// Takes reports and answers in their order, once what is stored is durable. Those of one user are taken in order. At
    /// most [`MOST_REPORTS`] a call. After an error some may be stored and some not: those with an id, and totals, may
    /// be given again.
    ///
    /// By the spec: a report whose id is known is a repeat, before anything else, whatever `Day` it names now, until 48 h
    /// after the freeze. Else it is too late at or before the watermark. A source's increments add up and its totals only
    /// rise; one that is not above what is held is a repeat. The number of the `Day` is the largest source. What changes
    /// a number and the posting of it are one step.
    async fn report(&self, reports: Vec<Report>, now: Instant) -> Result<Vec<Reported>, StoreError>;

    /// What there is of one user's `Day`; `None` where nobody reported.
    async fn entry(&self, uid: Uid, day: Day) -> Result<Option<Entry>, StoreError>;

    /// The numbers of many users on one `Day`, in their order.
    async fn read_many(&self, uids: &[Uid], day: Day) -> Result<Vec<Read>, StoreError>;

    /// Raises the watermark of every part to `to`, and lowers none: from here on a report for a `Day` that freezes at or
    /// before it is refused. After an error some parts may have it.
    async fn freeze(&self, to: Instant) -> Result<(), StoreError>;

    /// The lowest watermark over the parts; `None` where some part has none.
    async fn frozen_to(&self) -> Result<Option<Instant>, StoreError>;

    /// Erases a user: entries of every `Day`, and ids. Each number that was there is posted as gone. Reports of this user
    /// that come within 60 s are refused. May be repeated.
    async fn erase(&self, uid: Uid) -> Result<(), StoreError>;

    /// The oldest postings of a part that were not said to be posted.
    async fn outbox(&self, part: u32) -> Result<Outbox, StoreError>;

    /// Forgets the postings of a part up to this number.
    async fn posted(&self, part: u32, upto: u64) -> Result<(), StoreError>;

    /// Takes the lease on posting what the outboxes hold, or renews it; whether `owner` has it. It saves work and no more: where
    /// two post, readers hear what they know already.
    async fn may_post(&self, owner: u64, term: Duration) -> Result<bool, StoreError>;

    /// How far a part's postings are.
    async fn position(&self, part: u32) -> Result<Position, StoreError>;

    /// The numbers of a part on one `Day`, a piece at a time. What stands through all pieces is in one of them. Users whose
    /// entries cannot be read are left out.
    async fn totals(&self, part: u32, day: Day, from: Option<Cursor>) -> Result<Totals, StoreError>;

    /// The `Day`s for which a part has entries, in order.
    async fn days(&self, part: u32) -> Result<Vec<Day>, StoreError>;
}
