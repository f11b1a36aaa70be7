use chrono::{NaiveTime, TimeDelta};
use domain::{Day, Instant, Zone};

/// When a `Day` freezes in a zone; for one that never was there, when it has everywhere.
pub(crate) fn freezes(zone: Zone, day: Day) -> Instant {
    zone.edges(day).map_or_else(|| freezes_everywhere(day), |edges| edges.freezes)
}

/// When a `Day` has frozen in every zone: the westernmost is 12 h behind UTC.
pub(crate) fn freezes_everywhere(day: Day) -> Instant {
    let midnight = day.date().and_time(NaiveTime::MIN).and_utc();
    midnight + TimeDelta::hours(24 + 12) + TimeDelta::minutes(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_zone_freezes_later_than_all() {
        for day in ["20260607", "20111230"].map(|day| day.parse().unwrap()) {
            assert_eq!(Zone::all().map(|zone| freezes(zone, day)).max(), Some(freezes_everywhere(day)));
        }
        let apia = "Pacific/Apia".parse().unwrap();
        let never = "20111230".parse().unwrap();
        assert_eq!(freezes(apia, never), freezes_everywhere(never));
    }
}
