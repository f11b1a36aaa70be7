use std::sync::LazyLock;

use super::Zone;

/// Every name that has a number, a line each; the number is how many lines stand before it. Pages in stores hold numbers: a
/// line is never changed, moved or taken out, and a name that a later release of the database brings goes to the end.
const NAMES: &str = include_str!("numbers.txt");

/// A number that stands for no zone here: it was written by a newer version of the program, or its name is gone from the
/// time-zone database.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[error("zone number {0}: none of the time-zone database ({version})", version = Zone::tzdata_version())]
pub struct UnknownZoneNumber(pub u32);

impl Zone {
    /// A number that stands for the name in stores, for good and in every version of the program. Zones are not ordered by
    /// it.
    pub fn number(self) -> u32 {
        super::entry(self).number
    }

    /// The zone with this number.
    pub fn of_number(number: u32) -> Result<Self, UnknownZoneNumber> {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        BY_NUMBER.get(place).copied().flatten().ok_or(UnknownZoneNumber(number))
    }
}

/// The names that have a number, each with it.
pub(super) fn numbered() -> impl Iterator<Item = (&'static str, u32)> {
    NAMES.lines().zip(0..)
}

static BY_NUMBER: LazyLock<Vec<Option<Zone>>> = LazyLock::new(|| {
    let zone = |(name, _): (&str, u32)| name.parse().ok();
    numbered().map(zone).collect()
});

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    #[test]
    fn every_zone_has_a_number_of_its_own() {
        let names: BTreeSet<_> = numbered().map(|(name, _)| name).collect();
        assert_eq!(names.len(), numbered().count(), "a name has two numbers");
        for zone in Zone::all() {
            assert_eq!(Zone::of_number(zone.number()), Ok(zone));
            assert_eq!(numbered().nth(zone.number().try_into().unwrap()), Some((zone.name(), zone.number())));
        }
    }

    /// What was given out once: 597 names, those of the release 2026f. This test is never changed for later names.
    #[test]
    fn numbers_stay_what_they_were() {
        let first: Vec<_> = numbered().take(597).map(|(name, _)| name).collect();
        assert_eq!((first.len(), first[0], first[596]), (597, "Africa/Abidjan", "Zulu"));
        assert_eq!(xxh3_64(first.join("\n").as_bytes()), 5_942_466_598_171_004_141);
        for (name, number) in
            [("America/Lima", 147), ("Asia/Tokyo", 322), ("Europe/Berlin", 433), ("UTC", 592)]
        {
            assert_eq!(name.parse::<Zone>().unwrap().number(), number, "{name}");
        }
    }

    #[test]
    fn a_number_that_nothing_has_is_named() {
        let error = Zone::of_number(4_000_000_000).unwrap_err().to_string();
        assert_eq!(error, "zone number 4000000000: none of the time-zone database (2026f)");
        let next = u32::try_from(numbered().count()).unwrap();
        assert_eq!(Zone::of_number(next), Err(UnknownZoneNumber(next)));
    }
}
