use domain::{BadName, UnknownZone};

use super::{MOST_ATTEMPT, MOST_ZONES, NEWEST, OLDEST};
use crate::MOST_UIDS;

/// Why bytes are no batch, or a batch none that may be published.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Malformed {
    /// There are no bytes at all.
    #[error("the message is empty")]
    Empty,
    /// Written by a release that is no longer read.
    #[error("version {0} is older than {OLDEST}, the oldest that is read")]
    TooOld(u8),
    /// Written by a later release, or by something else altogether.
    #[error("version {0} is newer than {NEWEST}, the newest that is read")]
    TooNew(u8),
    /// The bytes end inside a field.
    #[error("the message ends in the middle of {0}")]
    Truncated(&'static str),
    /// A number is longer than its field allows, or not in its shortest form.
    #[error("{0} is not a number in its range")]
    Number(&'static str),
    /// A campaign or channel name that is none.
    #[error(transparent)]
    Name(#[from] BadName),
    /// A zone that this program's zone table does not have.
    #[error(transparent)]
    Zone(#[from] UnknownZone),
    /// A number that is no date.
    #[error("day {0} is not a date")]
    Day(u32),
    /// A time outside what can be counted.
    #[error("{0} is not a time in range")]
    Time(&'static str),
    /// An attempt that is 0 or too high.
    #[error("attempt {0}: 1 to {MOST_ATTEMPT} are possible")]
    Attempt(u8),
    /// A flag that has no meaning.
    #[error("flags {0:#010b}: an unknown one is set")]
    Flags(u8),
    /// Nobody or too many are in it.
    #[error("{0} users: 1 to {MOST_UIDS} are possible")]
    Users(u64),
    /// No zone or too many are in it.
    #[error("{0} zones: 1 to {MOST_ZONES} are possible")]
    Zones(u64),
    /// A user's zone is not among the zones.
    #[error("zone index {index} of {zones} zones")]
    ZoneIndex {
        /// The index.
        index: u8,
        /// How many zones there are.
        zones: usize,
    },
    /// The uids do not rise, or leave 64 bits.
    #[error("the uids are out of order")]
    UidOrder,
    /// The positions do not rise, or leave 32 bits.
    #[error("the positions are out of order")]
    PositionOrder,
    /// Something follows the last field.
    #[error("{0} bytes too many at the end")]
    Trailing(usize),
}

impl Malformed {
    /// A word for it, for metrics and lists.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooOld(_) => "version_too_old",
            Self::TooNew(_) => "version_too_new",
            Self::Truncated(_) => "truncated",
            Self::Number(_) => "bad_number",
            Self::Name(_) => "bad_name",
            Self::Zone(_) => "unknown_zone",
            Self::Day(_) => "bad_day",
            Self::Time(_) => "bad_time",
            Self::Attempt(_) => "bad_attempt",
            Self::Flags(_) => "unknown_flag",
            Self::Users(0) => "no_users",
            Self::Users(_) => "too_many_users",
            Self::Zones(0) => "no_zones",
            Self::Zones(_) => "too_many_zones",
            Self::ZoneIndex { .. } => "bad_zone_index",
            Self::UidOrder => "uid_order",
            Self::PositionOrder => "position_order",
            Self::Trailing(_) => "trailing_bytes",
        }
    }
}
