//! Who people are: zone, language, consent, devices. Imports them in bulk and lists who may be due.

mod api_keys;
mod bounds;
mod change;
mod column;
mod edit;
mod embedded;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod home;
mod horizon;
mod import;
mod line;
mod log;
mod page;
mod record;
mod redis;
mod tokens;
mod user;

pub use api_keys::{
    ApiKey, ApiKeys, EmbeddedApiKeys, KeyRing, LONGEST_KEY_NAME, MOST_KEYS, RedisApiKeys, Scope, Scopes,
    UnknownScope, is_key_id, made as made_key,
};
use async_trait::async_trait;
pub use change::{Applied, Change, NewDevice, NewUser, Refusal, UserPatch};
pub use column::{Column, Kind, MOST_KINDS, Refreshed, Row as ColumnRow};
use domain::{ChannelName, Instant, Uid, Zone};
pub use embedded::EmbeddedDirectory;
pub use home::{Home, UserDay};
pub use import::{Format, LONGEST_LINE, Row, RowError, TextLines, UserRows};
pub use line::{
    ChangeLine, DeviceLine,
    object::{Object, objects},
    parse_line, to_line,
};
pub use log::{Changed, PARTS, Position};
pub use page::{MOST_CHANNELS, Page, RosterRow};
pub use plumbing::StoreError;
pub use redis::RedisDirectory;
pub use tokens::{BadToken, BadTokenKey, MOST_TOKEN_KEYS, TokenKeys};
pub use user::{Device, LONGEST_ADDRESS, LONGEST_NAME, MOST_DEVICES, Moved, User};

/// The most pages that one call reads.
pub const MOST_PAGES: usize = 1_024;

/// The port of the directory. One embedded and, for large installations, one shared engine stand behind it.
#[async_trait]
pub trait Directory: Send + Sync {
    /// Applies changes, those of one user in order, each whole or not at all; answers in the same order. At most 10,000
    /// at once. After an error some may have been made: the call can be repeated.
    async fn apply(&self, changes: Vec<Change>, now: Instant) -> Result<Vec<Applied>, StoreError>;

    /// Changes the record of a user who is there, on the record as it stands at the moment of the write.
    async fn patch(&self, patch: UserPatch, now: Instant) -> Result<Applied, StoreError>;

    /// The records of `uids`, in their order; `None` for one that is not there.
    async fn users(&self, uids: &[Uid]) -> Result<Vec<Option<User>>, StoreError>;

    /// Takes a device that its provider reported gone at `gone_at` off the user's record, unless it was registered
    /// again after that. Answers whether it was taken off. `gone_at` must not be later than now.
    async fn drop_device(
        &self,
        uid: Uid,
        channel: &ChannelName,
        address: &str,
        gone_at: Instant,
    ) -> Result<bool, StoreError>;

    /// What changed in each of the [`PARTS`] since the position in it that `since` gives, in their order; one that is
    /// not given is the default.
    async fn changed(&self, since: &[Position]) -> Result<Vec<Changed>, StoreError>;

    /// Pages of one part, below [`PARTS`], in the order of their numbers as given; `None` for one that nobody is in. At
    /// most [`MOST_PAGES`] at once.
    async fn pages(&self, part: u32, numbers: &[u32]) -> Result<Vec<Option<Page>>, StoreError>;

    /// Every zone in which some user is or was before a move, with the number of users in it now.
    async fn zones(&self) -> Result<Vec<(Zone, u64)>, StoreError>;
}
