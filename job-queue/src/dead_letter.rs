use std::{fmt, str::FromStr};

use domain::{ChannelName, Instant};
use serde::{Deserialize, Serialize, de};

/// Names a dead letter. Later ones have higher ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeadId(pub u64);

/// Why a message is a dead letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeadReason {
    /// Its bytes are no batch.
    Malformed,
    /// Its last attempt failed.
    Attempts,
    /// Its deadline had passed where that should not happen.
    PastDeadline,
    /// Its campaign is not configured.
    UnknownCampaign,
    /// Its channel is not configured.
    UnknownChannel,
    /// The ledger has no such seal, or one that the batch does not fit.
    UnknownSeal,
    /// Working it panicked too often.
    Panicked,
    /// The work on it failed for good.
    Unworkable,
}

/// A message that nobody will work any more, kept to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The channel in whose queue it was.
    pub channel: ChannelName,
    /// Why.
    pub reason: DeadReason,
    /// More about why, for people; at most [`MOST_DETAIL`] characters are kept.
    pub detail: String,
    /// When it was given up, to the millisecond.
    pub at: Instant,
    /// The message as it was delivered.
    pub bytes: Vec<u8>,
}

/// The most characters of a dead letter's detail.
pub const MOST_DETAIL: usize = 500;

/// A text that is no reason.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("dead letter reason {0:?} is unknown")]
pub struct UnknownReason(pub String);

impl DeadLetter {
    /// A letter with its detail cut to what is kept.
    pub fn new(
        channel: ChannelName,
        reason: DeadReason,
        detail: impl Into<String>,
        at: Instant,
        bytes: Vec<u8>,
    ) -> Self {
        Self { channel, reason, detail: detail.into(), at, bytes }.cut()
    }

    pub(crate) fn cut(mut self) -> Self {
        if let Some((end, _)) = self.detail.char_indices().nth(MOST_DETAIL) {
            self.detail.truncate(end);
        }
        self
    }
}

impl DeadReason {
    /// All reasons.
    pub const ALL: [Self; 8] = [
        Self::Malformed,
        Self::Attempts,
        Self::PastDeadline,
        Self::UnknownCampaign,
        Self::UnknownChannel,
        Self::UnknownSeal,
        Self::Panicked,
        Self::Unworkable,
    ];

    /// Its name in lists, metrics and stores.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Attempts => "attempts",
            Self::PastDeadline => "past_deadline",
            Self::UnknownCampaign => "unknown_campaign",
            Self::UnknownChannel => "unknown_channel",
            Self::UnknownSeal => "unknown_seal",
            Self::Panicked => "panicked",
            Self::Unworkable => "unworkable",
        }
    }
}

impl fmt::Display for DeadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for DeadReason {
    type Err = UnknownReason;

    fn from_str(text: &str) -> Result<Self, UnknownReason> {
        let found = Self::ALL.into_iter().find(|r| r.as_str() == text);
        found.ok_or_else(|| UnknownReason(text.chars().take(40).collect()))
    }
}

impl Serialize for DeadReason {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for DeadReason {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_reads_what_it_writes() {
        for reason in DeadReason::ALL {
            assert_eq!(reason.as_str().parse(), Ok(reason));
        }
        assert_eq!(DeadReason::PastDeadline.to_string(), "past_deadline");
        assert_eq!("bored".parse::<DeadReason>(), Err(UnknownReason("bored".into())));
    }

    #[test]
    fn a_long_detail_is_cut_between_characters() {
        let letter = |detail: &str| {
            let channel = "stub".parse().unwrap();
            DeadLetter::new(channel, DeadReason::Malformed, detail, Instant::UNIX_EPOCH, vec![]).detail
        };
        assert_eq!(letter(&"é".repeat(600)), "é".repeat(500));
        assert_eq!(letter(&"é".repeat(500)), "é".repeat(500));
        assert_eq!(letter("short"), "short");
    }
}
