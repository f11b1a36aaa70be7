//! Who people are: zone, language, consent, devices. Imports them in bulk and lists who may be due.

mod change;
mod embedded;
mod import;
mod line;
mod record;
mod roster;
mod user;

use async_trait::async_trait;
pub use change::{Applied, Change, NewDevice, NewUser, Refusal};
use domain::{ChannelName, Instant, Uid, Zone};
pub use embedded::EmbeddedDirectory;
pub use import::{Format, LONGEST_LINE, Row, RowError, TextLines, UserRows};
pub use line::{ChangeLine, DeviceLine, parse_line, to_line};
pub use plumbing::StoreError;
pub use roster::{MOST_CHANNELS, MOST_ROWS, RosterPage, RosterRow};
pub use user::{Device, LONGEST_ADDRESS, LONGEST_NAME, MOST_DEVICES, Moved, User};

/// The port of the directory. One embedded and, for large installations, one shared engine stand behind it.
#[async_trait]
pub trait Directory: Send + Sync {
    /// Applies changes in order, each whole or not at all; answers in the same order. At most 10,000 at once.
    async fn apply(&self, changes: Vec<Change>, now: Instant) -> Result<Vec<Applied>, StoreError>;

    /// The records of `uids`, in their order; `None` for one that is not there.
    async fn users(&self, uids: &[Uid]) -> Result<Vec<Option<User>>, StoreError>;

    /// Takes a device that its provider reported gone at `gone_at` off the user's record, unless it was registered
    /// again after that. Answers whether it was taken off.
    async fn drop_device(
        &self,
        uid: Uid,
        channel: &ChannelName,
        address: &str,
        gone_at: Instant,
    ) -> Result<bool, StoreError>;

    /// Up to `limit` rows of the roster in uid order, those after `after`.
    async fn roster(&self, after: Option<Uid>, limit: usize) -> Result<RosterPage, StoreError>;

    /// Every zone in which some user is or was before a move, with the number of users in it now.
    async fn zones(&self) -> Result<Vec<(Zone, u64)>, StoreError>;
}
