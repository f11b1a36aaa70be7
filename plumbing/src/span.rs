use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize, de};

/// A length of time as settings spell it: `200ms`, `5s`, `10m`, `1h 30m`. Not negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl Span {
    /// A span of whole milliseconds.
    pub const fn millis(ms: u64) -> Self {
        Self(Duration::from_millis(ms))
    }

    /// A span of whole seconds.
    pub const fn seconds(s: u64) -> Self {
        Self(Duration::from_secs(s))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::SignedDuration::try_from(self.0) {
            Ok(signed) => write!(f, "{signed:#}"),
            Err(_) => write!(f, "{:?}", self.0),
        }
    }
}

impl std::str::FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let signed: Result<jiff::SignedDuration, _> = text.parse();
        signed.ok().and_then(|s| Duration::try_from(s).ok()).map(Self).ok_or_else(|| {
            format!("{text:?}: a length of time such as \"200ms\", \"5s\" or \"1h 30m\" is wanted")
        })
    }
}

impl Serialize for Span {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for text in ["200ms", "5s", "10m", "1h 30m", "0s"] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.to_string(), text);
        }
        for bad in ["", "5", "-5s", "soon", "5 parsecs"] {
            assert!(bad.parse::<Span>().is_err(), "{bad}");
        }
    }
}
