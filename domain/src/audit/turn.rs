use chrono::{DateTime, NaiveDateTime};
use serde::Serialize;

use crate::{
    Instant, Rule, Zone,
    calendar::{REACH, utc_seconds},
};

/// When a zone's wall clock reaches a time: the first instant at which it shows that time or a later one. That is the
/// whole of the rules for gaps and folds in one sentence, which is why it can check them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// The instant.
    pub at: Instant,
    /// `gap` if the clock shows a later time there, `fold` if it shows the time once more afterwards.
    pub rule: Rule,
}

/// Walks the stretches of constant offset around a wall-clock time. No clock is further from UTC than `REACH`, so that
/// none shows the time before the walk starts or after it ends.
pub(super) fn turn(zone: Zone, wall: NaiveDateTime) -> Option<Turn> {
    let wall = utc_seconds(wall);
    let mut spans =
        zone.spans(wall - REACH, wall + REACH).skip_while(|span| span.until + span.offset <= wall);
    let first = spans.next()?;
    let at = first.from.max(wall - first.offset);
    let again = spans.any(|later| (later.from + later.offset..later.until + later.offset).contains(&wall));
    let rule = match (at + first.offset > wall, again) {
        (true, _) => Rule::Gap,
        (false, true) => Rule::Fold,
        (false, false) => Rule::Exact,
    };
    Some(Turn { at: DateTime::from_timestamp(at, 0)?, rule })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every minute of the nights on which clocks change, by reading the clock minute by minute.
    #[test]
    fn a_turn_is_the_first_minute_that_shows_the_time_or_a_later_one() {
        for (name, from) in [
            ("Pacific/Easter", "2026-09-05T20:00:00Z"),
            ("America/Nuuk", "2022-10-29T20:00:00Z"),
            ("America/St_Johns", "2010-11-06T20:00:00Z"),
            ("Australia/Lord_Howe", "2026-04-04T08:00:00Z"),
            ("Pacific/Apia", "2011-12-30T00:00:00Z"),
            ("Asia/Beirut", "2026-03-28T12:00:00Z"),
        ] {
            let zone: Zone = name.parse().unwrap();
            let from: Instant = from.parse().unwrap();
            let minutes: Vec<_> = (0..720).map(|m| from + chrono::TimeDelta::minutes(m)).collect();
            let shown: Vec<_> = minutes.iter().map(|&at| zone.local(at)).collect();
            let mut wall = shown[0];
            while wall < shown[719] {
                let place = shown.iter().position(|&time| time >= wall).unwrap();
                let rule = match shown.iter().filter(|&&time| time == wall).count() {
                    0 => Rule::Gap,
                    1 => Rule::Exact,
                    _ => Rule::Fold,
                };
                assert_eq!(turn(zone, wall), Some(Turn { at: minutes[place], rule }), "{name} {wall}");
                wall += chrono::TimeDelta::minutes(1);
            }
        }
    }
}
