//! Plain words and pure arithmetic: who, when, which shard and slot. No I/O and no "now" inside.

mod audit;
mod calendar;
mod campaign;
mod cron_line;
mod day;
mod identity;
mod name;
mod night;
mod shard;
mod uid;
mod zone;

pub use audit::{AuditFault, AuditRow, AuditVerdict, Turn, audit};
pub use calendar::{Edges, Fire, Rule, fire};
pub use campaign::{Campaign, NoSteps};
pub use cron_line::{CronError, CronLine};
pub use day::{BadDay, Day};
pub use identity::Identity;
pub use name::{BadName, CampaignName, ChannelName, LONGEST_TAG, Language, Region};
pub use night::{BatchId, Night, SealKey};
pub use shard::{Shard, ShardCount, slot};
pub use uid::{BadUid, Uid};
pub use zone::{UnknownZone, UnknownZoneNumber, Zone};

/// An instant: UTC, as every part passes it on. "Now" is always an argument.
pub type Instant = chrono::DateTime<chrono::Utc>;
