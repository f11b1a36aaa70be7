use std::{fmt, str::FromStr, sync::Arc};

use xxhash_rust::xxh3::Xxh3;

/// The most bytes of a source's name.
const LONGEST: usize = 32;

/// The most bytes of an id as a client writes it.
const LONGEST_ID: usize = 128;

/// Who counted: a phone, a watch, an import. 1 to 32 of `a-z`, `0-9`, `.`, `_` and `-`. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(Arc<str>);

/// A text that names no source, cut to 40 characters.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("source {0:?}: 1 to {LONGEST} of a-z, 0-9, '.', '_' and '-' are wanted")]
pub struct BadSource(pub String);

/// The id of a report, made of its source and of the text that the client gave it: XXH3 of both in 64 bits. A source's
/// ids are its own; two texts of one user meet by chance once in some 10^15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReportId(pub u64);

/// A text that can be no id of a report.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("id: a text of 1 to {LONGEST_ID} bytes is wanted, not {0}")]
pub struct BadReportId(pub usize);

impl Source {
    /// What an operator's import is stored under.
    pub fn import() -> Self {
        Self("import".into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Source {
    type Err = BadSource;

    fn from_str(text: &str) -> Result<Self, BadSource> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-_".contains(&b);
        if (1..=LONGEST).contains(&text.len()) && text.bytes().all(plain) {
            return Ok(Self(text.into()));
        }
        Err(BadSource(text.chars().take(40).collect()))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl ReportId {
    /// The id of a source's report that the client calls `text`.
    pub fn of(source: &Source, text: &str) -> Result<Self, BadReportId> {
        if !(1..=LONGEST_ID).contains(&text.len()) {
            return Err(BadReportId(text.len()));
        }
        let mut hash = Xxh3::new();
        hash.update(source.as_str().as_bytes());
        // no source has such a byte in its name
        hash.update(&[0]);
        hash.update(text.as_bytes());
        Ok(Self(hash.digest()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_short_plain_name() {
        for good in ["a", "phone", "watch-2.b_c", &"x".repeat(32)] {
            assert_eq!(good.parse::<Source>().unwrap().as_str(), good);
        }
        for bad in ["", "Phone", "a b", "a:b", "é", &"x".repeat(33)] {
            assert!(bad.parse::<Source>().is_err(), "{bad:?}");
        }
        assert_eq!("import".parse(), Ok(Source::import()));
    }

    fn of(source: &Source, text: &str) -> ReportId {
        ReportId::of(source, text).unwrap()
    }

    #[test]
    fn an_id_is_its_sources_own_and_the_same_for_ever() {
        let (phone, watch): (Source, Source) = ("phone".parse().unwrap(), "watch".parse().unwrap());
        assert_eq!(of(&phone, "a"), of(&phone, "a"));
        assert_ne!(of(&phone, "a"), of(&watch, "a"));
        assert_ne!(of(&"a".parse().unwrap(), "bc"), of(&"ab".parse().unwrap(), "c"));
        // sets of ids outlive a release: the hash may not change
        assert_eq!(of(&phone, "a"), ReportId(xxhash_rust::xxh3::xxh3_64(b"phone\0a")));
        assert_eq!(ReportId::of(&phone, ""), Err(BadReportId(0)));
        assert_eq!(ReportId::of(&phone, &"é".repeat(65)), Err(BadReportId(130)));
    }
}
