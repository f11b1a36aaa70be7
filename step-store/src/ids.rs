//! How long ids of reports are kept. They lie in sets, one for a user and an epoch of four days.

use std::ops::RangeInclusive;

use chrono::TimeDelta;
use domain::{Day, Instant};

/// The most ids a set holds.
pub(crate) const MOST_IDS: usize = 16_384;

/// How many `Day`s an epoch has.
const DAYS: i64 = 4;

/// Four `Day`s whose ids are kept and forgotten together: days since 1970, divided by 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Epoch(pub(crate) u32);

impl Epoch {
    /// The epoch of a `Day`.
    pub(crate) fn of(day: Day) -> Self {
        Self::at(days(day))
    }

    /// The epochs in which an id of a report may be that now names this `Day`: it may have named another before, one that
    /// froze up to 48 h ago, or the next. They are one or two.
    pub(crate) fn around(day: Day) -> RangeInclusive<Self> {
        Self::at(days(day) - 3)..=Self::at(days(day) + 1)
    }

    /// All epochs of a range.
    pub(crate) fn each(range: RangeInclusive<Self>) -> impl Iterator<Item = Self> {
        (range.start().0..=range.end().0).map(Self)
    }

    /// When its ids are no longer wanted: 48 h after its last `Day` froze in the westernmost zone, which is 12 h behind UTC
    /// (spec: an id is known until 48 h after the freeze).
    pub(crate) fn ends(self) -> Instant {
        let after = TimeDelta::days((i64::from(self.0) + 1) * DAYS)
            + TimeDelta::hours(12 + 48)
            + TimeDelta::minutes(5);
        Instant::UNIX_EPOCH.checked_add_signed(after).unwrap_or(Instant::MAX_UTC)
    }

    /// How long its ids are kept from `now`, in seconds: an hour at least, and no more than an epoch that begins today.
    pub(crate) fn seconds_left(self, now: Instant) -> i64 {
        (self.ends() - now).num_seconds().clamp(3_600, 10 * 86_400)
    }

    fn at(days: i64) -> Self {
        Self(u32::try_from(days.max(0) / DAYS).unwrap_or(u32::MAX))
    }
}

fn days(day: Day) -> i64 {
    (day.date() - Day::FIRST.date()).num_days()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_from_every_day_that_it_may_have_named() {
        let mut day: Day = "20251225".parse().unwrap();
        for _ in 0..20 {
            let around = Epoch::around(day);
            let before = std::iter::successors(Some(day), |day| Some(day.previous())).take(4);
            let mut may = before.chain([day.next()]).map(Epoch::of);
            assert!(may.all(|epoch| around.contains(&epoch)), "{day}");
            assert!((1..=2).contains(&Epoch::each(around).count()));
            day = day.next();
        }
        assert_eq!(Epoch::around(Day::FIRST), Epoch(0)..=Epoch(0));
    }

    #[test]
    fn ids_outlive_the_freeze_of_their_day_by_48_hours_in_the_westernmost_zone() {
        let day: Day = "20260607".parse().unwrap();
        let west = "Etc/GMT+12".parse::<domain::Zone>().unwrap().edges(day).unwrap();
        let mut ends = Epoch::of(day).ends();
        assert!(
            ends >= west.freezes + TimeDelta::hours(48) && ends < west.freezes + TimeDelta::hours(48 + 96)
        );
        ends -= TimeDelta::hours(1);
        assert_eq!(Epoch::of(day).seconds_left(ends), 3_600);
        assert_eq!(Epoch::of(day).seconds_left(ends + TimeDelta::days(90)), 3_600);
        assert_eq!(Epoch::of(day).seconds_left(Instant::UNIX_EPOCH), 864_000);
    }
}
