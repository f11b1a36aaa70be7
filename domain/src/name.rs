use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize, de};

/// A text that is not a name of its kind.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{kind} name {text:?}: {wanted}")]
pub struct BadName {
    /// What was being named.
    pub kind: &'static str,
    /// The text that was refused, cut to 40 characters.
    pub text: String,
    /// What would have been right.
    pub wanted: &'static str,
}

const PLAIN: &str = "1 to 32 characters of a-z, 0-9, - and _ are wanted, the first a letter or digit";

fn plain(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && text.len() <= 32
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
}

const TAG: &str = "a BCP 47 language tag of at most 35 characters is wanted, such as en or zh-Hant";

/// Bytes of the longest language tag.
pub const LONGEST_TAG: usize = 35;

fn tag(text: &str) -> bool {
    text.len() <= LONGEST_TAG
        && text.split('-').all(|p| (1..=8).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_alphanumeric()))
        && text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic())
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $kind:literal, $check:path, $wanted:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(Arc<str>);

        impl $type {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = BadName;

            fn from_str(text: &str) -> Result<Self, BadName> {
                if $check(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(BadName { kind: $kind, text: text.chars().take(40).collect(), wanted: $wanted })
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

name!(
    /// A campaign's name: short enough for every identity encoding.
    CampaignName, "campaign", plain, PLAIN
);
name!(
    /// A channel's name as configured: `stub`, `webhook`, `apns-cn`.
    ChannelName, "channel", plain, PLAIN
);
name!(
    /// A user's home data centre.
    Region, "region", plain, PLAIN
);
name!(
    /// A user's language, a BCP 47 tag.
    Language, "language", tag, TAG
);

impl Default for Region {
    /// `main`, the one region of an installation that has only one.
    fn default() -> Self {
        Self("main".into())
    }
}

impl Default for Language {
    fn default() -> Self {
        Self("en".into())
    }
}

impl Language {
    /// The tag and its shorter forms, longest first: `zh-Hant-TW`, `zh-Hant`, `zh`.
    pub fn fallbacks(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(Some(self.as_str()), |tag| tag.rsplit_once('-').map(|(shorter, _)| shorter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_plain() {
        for good in ["nightly", "a", "0-9_z"] {
            assert!(good.parse::<CampaignName>().is_ok(), "{good}");
        }
        for bad in ["", "Nightly", "-a", "a b", "a/b", "ä", &"x".repeat(33)] {
            assert!(bad.parse::<CampaignName>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_language_falls_back_by_cutting_its_tail() {
        let tag: Language = "zh-Hant-TW".parse().unwrap();
        assert_eq!(tag.fallbacks().collect::<Vec<_>>(), ["zh-Hant-TW", "zh-Hant", "zh"]);
        for bad in ["", "-", "en_US", "en-", "123456789", "1n"] {
            assert!(bad.parse::<Language>().is_err(), "{bad:?}");
        }
    }
}
