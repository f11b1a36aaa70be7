use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{CampaignName, ChannelName, Day, Instant, Shard};

/// One campaign on one `Day`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Night {
    /// The campaign.
    pub campaign: CampaignName,
    /// The `Day`.
    pub day: Day,
}

impl fmt::Display for Night {
    /// `nightly/20260607`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.campaign, self.day)
    }
}

/// Names a seal: the fixed list of who is due in a night's shard at one instant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SealKey {
    /// The night.
    pub night: Night,
    /// The shard.
    pub shard: Shard,
    /// When it fires, to the second.
    pub instant: Instant,
}

impl fmt::Display for SealKey {
    /// `nightly/20260607/3@2026-06-07T20:00:00Z`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.instant.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
        write!(f, "{}/{}@{at}", self.night, self.shard)
    }
}

/// Names a batch. The same batch has the same id, however often it is published.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchId(pub u128);

impl BatchId {
    /// The `index`-th batch of a seal: `xxh3_128` of the key's text and the index.
    pub fn root(seal: &SealKey, index: u32) -> Self {
        Self(xxhash_rust::xxh3::xxh3_128(format!("{seal}#{index}").as_bytes()))
    }

    /// Its lower half, as a seed.
    pub fn low(self) -> u64 {
        u64::try_from(self.0 & u128::from(u64::MAX)).unwrap_or_default()
    }

    /// The batch that carries the users at `positions`, some of a parent's, on to their next attempt on `channel`:
    /// `xxh3_128` of the parent's id, the attempt, the channel and the positions (u32, little-endian), so that the same
    /// child has the same id however often it is published, and another child another.
    pub fn child(self, attempt: u8, channel: &ChannelName, positions: impl IntoIterator<Item = u32>) -> Self {
        let mut text = format!("{self}+{attempt}@{channel}/").into_bytes();
        positions.into_iter().for_each(|position| text.extend(position.to_le_bytes()));
        Self(xxhash_rust::xxh3::xxh3_128(&text))
    }
}

impl fmt::Display for BatchId {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for BatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
