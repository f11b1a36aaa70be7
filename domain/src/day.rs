use std::{fmt, str::FromStr};

use chrono::{Datelike, Days, NaiveDate};
use serde::{Deserialize, Serialize, de};

/// A local business date, `20260607` wherever it is read or shown. Years 1970 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(NaiveDate);

/// A text or number that is no `Day`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("day {0:?}: a date such as 20260607 or 2026-06-07 is wanted, from 19700101 to 99991231")]
pub struct BadDay(pub String);

impl Day {
    /// The first `Day` that can be written.
    pub const FIRST: Self = Self(date(1970, 1, 1));

    /// The last `Day` that can be written.
    pub const LAST: Self = Self(date(9999, 12, 31));

    /// The `Day` of a calendar date; `None` outside 1970 to 9999.
    pub fn of(date: NaiveDate) -> Option<Self> {
        (1970..=9999).contains(&date.year()).then_some(Self(date))
    }

    /// The calendar date.
    pub fn date(self) -> NaiveDate {
        self.0
    }

    /// The next calendar date, whether or not some zone skips it; stays at the last one that can be written.
    pub fn next(self) -> Self {
        self.0.checked_add_days(Days::new(1)).and_then(Self::of).unwrap_or(self)
    }

    /// The calendar date before; stays at the first one that can be written.
    pub fn previous(self) -> Self {
        self.0.checked_sub_days(Days::new(1)).and_then(Self::of).unwrap_or(self)
    }

    /// `20260607` as a number: ordered as the days are, and the form in keys.
    pub fn number(self) -> u32 {
        self.0.year().unsigned_abs() * 10_000 + self.0.month() * 100 + self.0.day()
    }

    /// The `Day` of a number such as `20260607`.
    pub fn from_number(number: u32) -> Option<Self> {
        let year = i32::try_from(number / 10_000).ok()?;
        NaiveDate::from_ymd_opt(year, number / 100 % 100, number % 100).and_then(Self::of)
    }
}

impl FromStr for Day {
    type Err = BadDay;

    fn from_str(text: &str) -> Result<Self, BadDay> {
        let bad = || BadDay(text.chars().take(40).collect());
        let digits = match text.len() {
            8 => text.to_owned(),
            10 if text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-' => text.replace('-', ""),
            _ => return Err(bad()),
        };
        if digits.len() != 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad());
        }
        digits.parse().ok().and_then(Self::from_number).ok_or_else(bad)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08}", self.number())
    }
}

impl Serialize for Day {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

const fn date(year: i32, month: u32, day: u32) -> NaiveDate {
    match NaiveDate::from_ymd_opt(year, month, day) {
        Some(date) => date,
        None => NaiveDate::MIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_spellings_and_nothing_else() {
        let day: Day = "20260607".parse().unwrap();
        assert_eq!("2026-06-07".parse(), Ok(day));
        assert_eq!(day.to_string(), "20260607");
        assert_eq!(day.next().to_string(), "20260608");
        assert_eq!((Day::FIRST.number(), Day::LAST.number()), (19_700_101, 99_991_231));
        for bad in ["20260230", "2026-02-30", "260607", "2026/06/07", "00000000", "2026060७", ""] {
            assert!(bad.parse::<Day>().is_err(), "{bad:?}");
        }
    }
}
