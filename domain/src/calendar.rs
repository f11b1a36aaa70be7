use chrono::{DateTime, Datelike, NaiveDateTime, NaiveTime, TimeDelta, Timelike};
use jiff::tz::AmbiguousOffset;
use serde::{Deserialize, Serialize};

use crate::{CronLine, Day, Instant, Zone, zone::stamp};

/// The instants that bound a `Day` in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Edges {
    /// The first instant of the local date: midnight, or the end of a gap that has swallowed it.
    pub begins: Instant,
    /// Where the next date that exists in the zone begins.
    pub ends: Instant,
    /// From here on the `Day` is read-only: 5 minutes of elapsed time after its end.
    pub freezes: Instant,
}

/// How a wall-clock time became an instant. Read and shown by its name in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// The time existed once.
    Exact,
    /// The time did not exist: the first instant after the gap.
    Gap,
    /// The time existed twice: the first.
    Fold,
}

/// When a campaign's night begins in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fire {
    /// The instant, to the second.
    pub at: Instant,
    /// How it came from the line's wall-clock time.
    pub rule: Rule,
    /// The end of the `Day`, or fire plus window if that is later: nothing is sent from here on.
    pub deadline: Instant,
}

/// The instant at which `line` fires for `day` in `zone`, spread over `window` seconds. `None` where the line does not
/// select that date, or the date never was in the zone.
pub fn fire(line: &CronLine, window: u32, zone: Zone, day: Day) -> Option<Fire> {
    let wall = line.wall(day)?;
    let edges = zone.edges(day)?;
    let (at, rule) = zone.instant(day.date().and_time(wall))?;
    let spread = at.checked_add_signed(TimeDelta::seconds(window.into()))?;
    Some(Fire { at, rule, deadline: edges.ends.max(spread) })
}

impl Rule {
    /// `exact`, `gap` or `fold`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Gap => "gap",
            Self::Fold => "fold",
        }
    }
}

impl Zone {
    /// The edges of a `Day`; `None` where that date never was in the zone, as 2011-12-30 in Pacific/Apia.
    pub fn edges(self, day: Day) -> Option<Edges> {
        let begins = self.begins(day)?;
        let ends = days_after(day).find_map(|next| self.begins(next))?;
        let freezes = ends.checked_add_signed(FREEZE)?;
        Some(Edges { begins, ends, freezes })
    }

    /// The next date that exists in the zone; the same one if it is the last that can be written.
    pub fn next_day(self, day: Day) -> Day {
        days_after(day).find(|&next| self.begins(next).is_some()).unwrap_or(day)
    }

    /// The date before that exists in the zone; the same one if it is the first that can be written.
    pub fn previous_day(self, day: Day) -> Day {
        days_before(day).find(|&earlier| self.begins(earlier).is_some()).unwrap_or(day)
    }

    /// The first instant whose local date is `day`, looked for in every stretch of constant offset around it: so gaps
    /// and folds at midnight, or across it, need no rule of their own.
    fn begins(self, day: Day) -> Option<Instant> {
        let midnight = utc_seconds(day.date().and_time(NaiveTime::MIN));
        let first = self.spans(midnight - REACH, midnight + DAY + REACH).find_map(|span| {
            let from = span.from.max(midnight - span.offset);
            let until = span.until.min(midnight + DAY - span.offset);
            (from < until).then_some(from)
        })?;
        DateTime::from_timestamp(first, 0)
    }

    /// The instant of a wall-clock time by the named rules.
    fn instant(self, wall: NaiveDateTime) -> Option<(Instant, Rule)> {
        let rules = self.rules();
        let utc = utc_seconds(wall);
        let (second, rule) = match rules.to_ambiguous_timestamp(civil(wall)?).offset() {
            AmbiguousOffset::Unambiguous { offset } => (utc - i64::from(offset.seconds()), Rule::Exact),
            AmbiguousOffset::Fold { before, .. } => (utc - i64::from(before.seconds()), Rule::Fold),
            AmbiguousOffset::Gap { before, .. } => {
                // Read with the offset before the change, the time lies at the change or after it.
                let late = utc - i64::from(before.seconds());
                (rules.preceding(stamp(late + 1)).next()?.timestamp().as_second(), Rule::Gap)
            }
        };
        Some((DateTime::from_timestamp(second, 0)?, rule))
    }
}

const FREEZE: TimeDelta = TimeDelta::minutes(5);

const DAY: i64 = 86_400;

/// No offset from UTC is larger, in seconds (RFC 8536, section 3.2: less than 26 hours).
pub(crate) const REACH: i64 = 26 * 3600;

/// A wall-clock time as if it were UTC, in seconds since 1970.
pub(crate) fn utc_seconds(wall: NaiveDateTime) -> i64 {
    wall.and_utc().timestamp()
}

/// The next calendar dates. No zone has ever left out more than one in a row; the end is for the last `Day`.
fn days_after(day: Day) -> impl Iterator<Item = Day> {
    std::iter::successors(Some(day), |day| Some(day.next()).filter(|next| next > day)).skip(1).take(7)
}

fn days_before(day: Day) -> impl Iterator<Item = Day> {
    std::iter::successors(Some(day), |day| Some(day.previous()).filter(|before| before < day)).skip(1).take(7)
}

fn civil(wall: NaiveDateTime) -> Option<jiff::civil::DateTime> {
    let year = i16::try_from(wall.year()).ok()?;
    let [month, day, hour, minute, second] =
        [wall.month(), wall.day(), wall.hour(), wall.minute(), wall.second()]
            .map(|part| i8::try_from(part).ok());
    jiff::civil::DateTime::new(year, month?, day?, hour?, minute?, second?, 0).ok()
}

#[cfg(test)]
mod every_zone;
#[cfg(test)]
mod tests;
