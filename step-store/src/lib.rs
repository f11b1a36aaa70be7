//! What people walked, keyed by `Day`: midnight is a change of key, never a write.

mod embedded;
mod key;
mod redis;

use async_trait::async_trait;
use domain::{Day, Uid};
pub use embedded::EmbeddedSteps;
pub use key::key;
pub use plumbing::StoreError;

pub use self::redis::RedisSteps;

/// The most steps a user-day may hold (spec: above it a report is refused, `too_many`).
pub const MOST_STEPS: u32 = 200_000;

/// The most adds one call may hold, on every engine.
const MOST_ADDS: usize = 10_000;

/// Steps to add to one user's `Day`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Add {
    /// The user.
    pub uid: Uid,
    /// The `Day`.
    pub day: Day,
    /// How many steps.
    pub steps: u32,
}

/// What came of an [`Add`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// Stored; the number of the user's `Day` now.
    Stored(u32),
    /// Refused, nothing stored: the `Day` would pass [`MOST_STEPS`].
    TooMany,
}

/// The port of the step store.
#[async_trait]
pub trait StepStore: Send + Sync {
    /// Adds in order, each whole or not at all, and answers in the same order once what is stored is durable. At most
    /// 10,000 a call. After an error some may be stored and some not.
    async fn add(&self, adds: Vec<Add>) -> Result<Vec<Added>, StoreError>;

    /// The number of one user's `Day`; 0 where there is no entry.
    async fn read(&self, uid: Uid, day: Day) -> Result<u32, StoreError>;

    /// The numbers of many users on one `Day`, in their order; 0 where there is no entry.
    async fn read_many(&self, uids: &[Uid], day: Day) -> Result<Vec<u32>, StoreError>;
}
