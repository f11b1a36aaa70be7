use proptest::prelude::*;

use super::*;

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn day(text: &str) -> Day {
    text.parse().unwrap()
}

fn home(zone: &str, moved: Option<(&str, &str)>) -> Home {
    let moved = moved.map(|(from, last)| Moved { from: from.parse().unwrap(), last: day(last) });
    Home { zone: zone.parse().unwrap(), moved }
}

#[test]
fn a_day_is_open_from_two_minutes_before_until_five_after() {
    let tokyo = home("Asia/Tokyo", None).day_at(at("2026-06-07T14:59:59.999Z")).unwrap();
    assert_eq!(
        (tokyo.day, tokyo.begins, tokyo.ends),
        (day("20260607"), at("2026-06-06T15:00:00Z"), at("2026-06-07T15:00:00Z"))
    );
    assert_eq!((tokyo.opens(), tokyo.freezes()), (at("2026-06-06T14:58:00Z"), at("2026-06-07T15:05:00Z")));
    assert!(tokyo.contains(tokyo.begins) && !tokyo.contains(tokyo.ends));
    assert_eq!(home("Asia/Tokyo", None).day_at(at("2026-06-07T15:00:00Z")).unwrap().day, day("20260608"));
}

/// In 2026 Berlin's 29 March has 23 hours and its 25 October 25; Lord Howe's 4 October has 23 and a half.
#[test]
fn days_have_the_hours_they_have() {
    for (zone, noon, hours) in [
        ("Europe/Berlin", "2026-03-29T10:00:00Z", 23.0),
        ("Europe/Berlin", "2026-10-25T11:00:00Z", 25.0),
        ("Australia/Lord_Howe", "2026-10-04T01:00:00Z", 23.5),
    ] {
        let day = home(zone, None).day_at(at(noon)).unwrap();
        assert_eq!((day.ends - day.begins).num_minutes() as f64 / 60.0, hours, "{zone}");
        // the last minute counts on it, and the freeze comes five minutes of elapsed time after
        let last = day.ends - TimeDelta::minutes(1);
        assert_eq!(home(zone, None).day_at(last), Some(day), "{zone}");
    }
}

/// Samoa had no 30 December 2011: the 29th ends where the 31st begins.
#[test]
fn a_date_that_never_was_has_no_instant() {
    let apia = home("Pacific/Apia", None);
    let (before, after) =
        (apia.day_at(at("2011-12-30T09:59:59Z")).unwrap(), apia.day_at(at("2011-12-30T10:00:00Z")).unwrap());
    assert_eq!((before.day, after.day), (day("20111229"), day("20111231")));
    assert_eq!(before.ends, after.begins);
}

/// From Kiritimati, 14 h ahead of UTC, to Pago Pago, 11 behind: where the 7th ends in the old zone it is still the 6th in the new
/// one, which has the whole 7th before it. All of that is of the 8th.
#[test]
fn a_move_westward_makes_the_first_day_long() {
    let moved = home("Pacific/Pago_Pago", Some(("Pacific/Kiritimati", "20260607")));
    let holds = at("2026-06-07T10:00:00Z");
    let before = moved.day_at(holds - TimeDelta::seconds(1)).unwrap();
    let first = moved.day_at(holds).unwrap();
    assert_eq!((before.day, before.zone.name(), before.ends), (day("20260607"), "Pacific/Kiritimati", holds));
    assert_eq!((first.day, first.begins, first.ends), (day("20260608"), holds, at("2026-06-09T11:00:00Z")));
    assert_eq!(moved.day_at(at("2026-06-08T12:00:00Z")), Some(first));
    assert_eq!(moved.day_at(first.ends).unwrap().day, day("20260609"));
}

/// The other way round the 8th has gone by in the new zone before the old one's 7th ends.
#[test]
fn a_move_eastward_skips_a_day_and_cuts_the_first() {
    let moved = home("Pacific/Kiritimati", Some(("Pacific/Pago_Pago", "20260607")));
    let holds = at("2026-06-08T11:00:00Z");
    let first = moved.day_at(holds).unwrap();
    assert_eq!((first.day, first.begins, first.ends), (day("20260609"), holds, at("2026-06-09T10:00:00Z")));
    assert_eq!(moved.day_at(holds - TimeDelta::seconds(1)).unwrap().day, day("20260607"));
}

fn zones() -> impl Strategy<Value = Zone> {
    prop::sample::select(Zone::all().collect::<Vec<_>>())
}

proptest! {
    /// Days follow each other without a gap or an overlap, by rising date, and each has all of its instants.
    #[test]
    fn every_instant_is_in_exactly_one_day(
        zone in zones(),
        from in proptest::option::of(zones()),
        start in 1_262_304_000i64..1_893_456_000,
        last in 0i64..4,
        inside in 0.0f64..1.0,
    ) {
        let at = Instant::from_timestamp(start, 0).unwrap();
        let moved = from.map(|from| Moved { from, last: from.day_at(at + TimeDelta::days(last)) });
        // a last `Day` that never was in the old zone is none that a record can have
        prop_assume!(moved.is_none_or(|moved| moved.holds_from().is_some()));
        let home = Home { zone, moved };
        let mut now = home.day_at(at).unwrap();
        prop_assert!(now.contains(at), "{now:?}");
        for _ in 0..7 {
            let within = now.begins + (now.ends - now.begins).to_std().unwrap().mul_f64(inside);
            prop_assert_eq!(home.day_at(within), Some(now));
            prop_assert_eq!(home.day_at(now.begins), Some(now));
            prop_assert_eq!(home.zone_on(now.day), now.zone);
            let next = home.day_at(now.ends).unwrap();
            prop_assert!(next.begins == now.ends && next.day > now.day, "{now:?} {next:?}");
            now = next;
        }
    }
}
