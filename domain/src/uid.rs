use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A user: a 64-bit number, in decimal wherever it is read or shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Uid(pub u64);

/// A text that is not a uid.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("uid {0:?}: a whole number from 0 to 18446744073709551615 without sign or leading zeros is wanted")]
pub struct BadUid(pub String);

impl FromStr for Uid {
    type Err = BadUid;

    /// Decimal digits only; `01001`, `+5` and `1001.0` are refused so that one user has one spelling.
    fn from_str(text: &str) -> Result<Self, BadUid> {
        let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        if !plain {
            return Err(BadUid(text.chars().take(40).collect()));
        }
        text.parse().map(Uid).map_err(|_| BadUid(text.chars().take(40).collect()))
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_user_has_one_spelling() {
        assert_eq!("1001".parse(), Ok(Uid(1001)));
        assert_eq!("18446744073709551615".parse(), Ok(Uid(u64::MAX)));
        for bad in ["", "01001", "1001.0", "-1", "+1", " 1", "18446744073709551616", "1e3", "１"] {
            assert!(bad.parse::<Uid>().is_err(), "{bad:?}");
        }
    }
}
