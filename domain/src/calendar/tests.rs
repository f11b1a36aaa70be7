use super::*;

fn zone(name: &str) -> Zone {
    name.parse().unwrap()
}

fn day(number: u32) -> Day {
    Day::from_number(number).unwrap()
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn fires(line: &str, window: u32, name: &str, number: u32) -> Option<Fire> {
    fire(&line.parse().unwrap(), window, zone(name), day(number))
}

fn nightly(name: &str, number: u32) -> Fire {
    fires("0 22 * * *", 3600, name, number).unwrap()
}

/// On this night the clock of Easter Island goes from 22:00 to 23:00, and midnight is an hour later.
#[test]
fn a_time_in_a_gap_fires_at_its_end() {
    let night = nightly("Pacific/Easter", 20_260_905);
    let midnight = at("2026-09-06T05:00:00Z");
    assert_eq!(night, Fire { at: at("2026-09-06T04:00:00Z"), rule: Rule::Gap, deadline: midnight });
    assert_eq!(zone("Pacific/Easter").edges(day(20_260_905)).unwrap().ends, midnight);
    assert_eq!(zone("Pacific/Easter").day_at(midnight - TimeDelta::seconds(1)), day(20_260_905));
    assert_eq!(zone("Pacific/Easter").day_at(midnight), day(20_260_906));
    // Every time within the gap comes to the same instant.
    assert_eq!(fires("59 22 * * *", 3600, "Pacific/Easter", 20_260_905), Some(night));
    assert_eq!(fires("0 22 * * *", 3600, "Pacific/Easter", 20_270_904).unwrap().rule, Rule::Gap);
    assert_eq!(nightly("Pacific/Easter", 20_260_906).at, at("2026-09-07T03:00:00Z"));
}

#[test]
fn a_time_that_exists_twice_fires_at_the_first() {
    let night = nightly("America/Nuuk", 20_221_029);
    let deadline = at("2022-10-30T03:00:00Z");
    assert_eq!(night, Fire { at: at("2022-10-30T00:00:00Z"), rule: Rule::Fold, deadline });
    let night = fires("0 23 * * *", 60, "America/Santiago", 20_260_404).unwrap();
    let deadline = at("2026-04-05T04:00:00Z");
    assert_eq!(night, Fire { at: at("2026-04-05T02:00:00Z"), rule: Rule::Fold, deadline });
    assert_eq!(
        fires("30 23 * * *", 60, "America/Santiago", 20_260_404).unwrap().at,
        at("2026-04-05T02:30:00Z")
    );
    assert_eq!(nightly("America/Santiago", 20_260_404).rule, Rule::Exact);
}

/// Nuuk goes from 23:00 straight to midnight: the night keeps its date and fires as that date ends.
#[test]
fn a_gap_at_the_end_of_the_day_does_not_move_the_night_to_the_next() {
    let last = day(20_260_328);
    let night = fires("30 23 * * *", 60, "America/Nuuk", 20_260_328).unwrap();
    let change = at("2026-03-29T01:00:00Z");
    assert_eq!(night, Fire { at: change, rule: Rule::Gap, deadline: change + TimeDelta::seconds(60) });
    assert_eq!(zone("America/Nuuk").edges(last).unwrap().ends, change);
    assert_eq!(fires("30 23 * * *", 60, "America/Nuuk", 20_260_329).unwrap().at, at("2026-03-30T00:30:00Z"));
}

#[test]
fn odd_offsets() {
    for (name, instant) in [
        ("Pacific/Kiritimati", "2026-05-10T08:00:00Z"),
        ("Pacific/Chatham", "2026-05-10T09:15:00Z"),
        ("Australia/Lord_Howe", "2026-05-10T11:30:00Z"),
        ("Asia/Kathmandu", "2026-05-10T16:15:00Z"),
        ("Pacific/Pago_Pago", "2026-05-11T09:00:00Z"),
    ] {
        let night = nightly(name, 20_260_510);
        assert_eq!((night.at, night.rule), (at(instant), Rule::Exact), "{name}");
        assert_eq!(zone(name).day_at(night.at), day(20_260_510), "{name}");
    }
    assert_eq!(nightly("Australia/Lord_Howe", 20_261_004).at, at("2026-10-04T11:00:00Z"));
    // Lord Howe's clock is moved by half an hour, from 02:00 to 02:30.
    let gap = fires("15 2 * * *", 60, "Australia/Lord_Howe", 20_261_004).unwrap();
    assert_eq!((gap.at, gap.rule), (at("2026-10-03T15:30:00Z"), Rule::Gap));
}

#[test]
fn rules_that_were_dropped_are_not_kept() {
    assert_eq!(nightly("America/Mexico_City", 20_260_701).at, at("2026-07-02T04:00:00Z"));
    assert_eq!(nightly("America/Vancouver", 20_261_215).at, at("2026-12-16T05:00:00Z"));
}

/// Samoa crossed the date line at the end of 2011-12-29: the 30th never was.
#[test]
fn a_date_that_never_was() {
    let (apia, before, never, after) =
        (zone("Pacific/Apia"), day(20_111_229), day(20_111_230), day(20_111_231));
    assert_eq!(nightly("Pacific/Apia", 20_111_229).at, at("2011-12-30T08:00:00Z"));
    assert_eq!(fires("0 22 * * *", 3600, "Pacific/Apia", 20_111_230), None);
    assert_eq!(nightly("Pacific/Apia", 20_111_231).at, at("2011-12-31T08:00:00Z"));
    assert_eq!(apia.edges(never), None);
    assert_eq!(apia.edges(before).unwrap().ends, at("2011-12-30T10:00:00Z"));
    assert_eq!(apia.edges(after).unwrap().begins, at("2011-12-30T10:00:00Z"));
    assert_eq!((apia.next_day(before), apia.previous_day(after)), (after, before));
    assert_eq!((apia.next_day(never), apia.previous_day(never)), (after, before));
    // Kwajalein left out a date as well, Kiritimati one with a jump of more than 24 hours.
    assert_eq!(zone("Pacific/Kwajalein").next_day(day(19_930_820)), day(19_930_822));
    assert_eq!(zone("Pacific/Kiritimati").next_day(day(19_941_230)), day(19_950_101));
}

/// A clock that is wrong and put right again asks about the same night, and the night does not depend on the clock.
#[test]
fn a_clock_set_back_finds_the_same_night() {
    let utc = zone("UTC");
    for now in
        ["2026-05-10T21:58:00Z", "2026-05-10T23:30:00Z", "2026-05-10T21:59:00Z", "2026-05-10T18:30:00Z"]
    {
        let night = nightly("UTC", utc.day_at(at(now)).number());
        assert_eq!(
            (night.at, night.deadline),
            (at("2026-05-10T22:00:00Z"), at("2026-05-11T00:00:00Z")),
            "{now}"
        );
    }
}

/// Back at 02:20 UTC after a night's outage, with slots over an hour: only New York is still inside its deadline.
#[test]
fn after_an_outage_only_an_open_day_is_sent() {
    let open = |name: &str, number, now: &str| nightly(name, number).deadline > at(now);
    let now = "2026-05-11T02:20:00Z";
    assert!(!open("Europe/Berlin", 20_260_510, now));
    assert!(!open("Asia/Kathmandu", 20_260_510, now));
    assert!(open("America/New_York", 20_260_510, now));
    assert_eq!(at(now) - nightly("America/New_York", 20_260_510).at, TimeDelta::minutes(20));
    // After five days: the current date alone.
    let days = (20_260_510..=20_260_515).filter(|&n| open("America/New_York", n, "2026-05-16T02:20:00Z"));
    assert_eq!(days.collect::<Vec<_>>(), [20_260_515]);
}

#[test]
fn a_deadline_is_never_before_the_window_ends() {
    let midnight = at("2026-05-11T00:00:00Z");
    assert_eq!(fires("30 23 * * *", 1800, "UTC", 20_260_510).unwrap().deadline, midnight);
    assert_eq!(
        fires("30 23 * * *", 1801, "UTC", 20_260_510).unwrap().deadline,
        midnight + TimeDelta::seconds(1)
    );
    assert!(fires("0 22 * * *", u32::MAX, "UTC", 20_260_510).is_some());
}

#[test]
fn midnight_in_a_gap_and_midnight_twice() {
    // Beirut goes from 24:00 to 01:00: the date begins at 01:00.
    let beirut = zone("Asia/Beirut").edges(day(20_260_329)).unwrap();
    assert_eq!((beirut.begins, beirut.ends), (at("2026-03-28T22:00:00Z"), at("2026-03-29T21:00:00Z")));
    assert_eq!(zone("Asia/Beirut").local(beirut.begins), "2026-03-29T01:00:00".parse().unwrap());
    // Havana went back from 01:00 to 00:00: the date begins at the first midnight.
    let havana = zone("America/Havana").edges(day(20_251_102)).unwrap();
    assert_eq!((havana.begins, havana.ends), (at("2025-11-02T04:00:00Z"), at("2025-11-03T05:00:00Z")));
    // St. John's went back at 00:01 to 23:01 of the day before: the date begins at the first midnight all the same.
    let st_johns = zone("America/St_Johns").edges(day(20_101_107)).unwrap();
    assert_eq!(st_johns.begins, at("2010-11-07T02:30:00Z"));
}

#[test]
fn a_day_freezes_five_minutes_after_its_end() {
    let berlin = zone("Europe/Berlin").edges(day(20_261_025)).unwrap();
    assert_eq!(berlin.ends - berlin.begins, TimeDelta::hours(25));
    assert_eq!(berlin.freezes, at("2026-10-25T23:05:00Z"));
}

#[test]
fn the_calendar_has_ends() {
    for zone in Zone::all().step_by(29) {
        assert!(zone.edges(Day::FIRST).is_some());
        assert_eq!(zone.previous_day(Day::FIRST), Day::FIRST);
        assert_eq!(zone.edges(Day::LAST), None, "nothing comes after it");
        assert_eq!(zone.next_day(Day::LAST), Day::LAST);
    }
}

#[test]
fn rules_have_names() {
    assert_eq!([Rule::Exact, Rule::Gap, Rule::Fold].map(Rule::name), ["exact", "gap", "fold"]);
    let read = Rule::deserialize(serde::de::value::StrDeserializer::<serde::de::value::Error>::new("gap"));
    assert_eq!(read, Ok(Rule::Gap));
}
