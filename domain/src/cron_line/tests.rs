use chrono::NaiveDateTime;
use proptest::prelude::*;

use super::*;

fn line(text: &str) -> CronLine {
    text.parse().unwrap_or_else(|fault| panic!("{fault}"))
}

fn day(number: u32) -> Day {
    Day::from_number(number).unwrap()
}

/// The dates of a month that a line selects.
fn dates(text: &str, year_month: u32) -> Vec<u32> {
    let line = line(text);
    let days = (1..=31).filter_map(|d| Day::from_number(year_month * 100 + d));
    days.filter(|&day| line.wall(day).is_some()).map(|day| day.number() % 100).collect()
}

#[test]
fn every_evening_at_ten() {
    let nightly = line("0 22 * * *");
    assert_eq!(nightly.wall(day(20_260_607)), NaiveTime::from_hms_opt(22, 0, 0));
    assert_eq!(nightly.time(), NaiveTime::from_hms_opt(22, 0, 0).unwrap());
    assert_eq!(line("05 07 * * *").time(), NaiveTime::from_hms_opt(7, 5, 0).unwrap());
    assert_eq!(line(" 0\t22  * * * ").time(), nightly.time());
    // The days go on for as long as a `Day` can be written.
    assert!(nightly.wall(Day::FIRST).is_some() && nightly.wall(Day::LAST).is_some());
}

/// June 2026 begins on a Monday: its Sundays are 7, 14, 21 and 28.
#[test]
fn weekdays_are_counted_from_sunday_twice() {
    for sunday in ["0", "7", "sun", "SUN", "Sun", "0,7", "7-7", "*/7"] {
        assert_eq!(dates(&format!("0 22 * * {sunday}"), 202_606), [7, 14, 21, 28], "{sunday}");
    }
    assert_eq!(dates("0 22 * * 5-7", 202_606), [5, 6, 7, 12, 13, 14, 19, 20, 21, 26, 27, 28]);
    assert_eq!(dates("0 22 * * mon-wed/2", 202_606), [1, 3, 8, 10, 15, 17, 22, 24, 29]);
    assert_eq!(dates("0 22 * * 0-7", 202_606).len(), 30);
}

#[test]
fn days_and_months() {
    assert_eq!(dates("0 22 1,15,31 * *", 202_606), [1, 15]);
    assert_eq!(dates("0 22 10-20/5 * *", 202_606), [10, 15, 20]);
    assert_eq!(dates("0 22 */10 * *", 202_606), [1, 11, 21]);
    assert_eq!(dates("0 22 1 jan,JUN-aug *", 202_606), [1]);
    assert!(dates("0 22 1 jan,JUL-aug *", 202_606).is_empty());
    assert_eq!(dates("0 22 29 2 *", 202_802), [29]);
    assert!(dates("0 22 29 2 *", 202_602).is_empty());
}

/// crontab(5): with both day fields restricted either is enough; a field that begins with a star is not restricted.
#[test]
fn the_two_day_fields() {
    assert_eq!(dates("0 22 13 * 5", 202_606), [5, 12, 13, 19, 26]);
    assert_eq!(dates("0 22 30 2 1", 202_602), [2, 9, 16, 23], "the Mondays, though no February has a 30th");
    // Odd dates that are Mondays; and the 13th if an even weekday number, Saturday.
    assert_eq!(dates("0 22 */2 * 1", 202_606), [1, 15, 29]);
    assert_eq!(dates("0 22 13 * */2", 202_606), [13]);
    assert!(dates("0 22 12 * */2", 202_606).is_empty(), "a Friday");
}

#[test]
fn the_text_is_kept() {
    let written = "0  22 * JAN-mar 7";
    assert_eq!(line(written).to_string(), written);
    assert_eq!(line(written), line(written));
    assert_ne!(line("0 22 * * 0"), line("0 22 * * 7"));
    let read = CronLine::deserialize(de::value::StrDeserializer::<de::value::Error>::new(written));
    assert_eq!(read, Ok(line(written)));
    let fault = CronLine::deserialize(de::value::StrDeserializer::<de::value::Error>::new("0 24 * * *"));
    assert_eq!(fault.unwrap_err().to_string(), "cron line: hour \"24\": a number from 0 to 23 is wanted");
}

#[test]
fn minute_and_hour_are_single_numbers() {
    for (field, text) in [
        ("minute", "*/5 22 * * *"),
        ("minute", "* 22 * * *"),
        ("minute", "0,30 22 * * *"),
        ("hour", "0 20-22 * * *"),
        ("hour", "0 * * * *"),
    ] {
        let fault = text.parse::<CronLine>().unwrap_err();
        assert!(matches!(&fault, CronError::Field { field: f, .. } if *f == field), "{text}: {fault}");
        assert!(fault.to_string().contains("at most once a day"), "{fault}");
    }
}

#[test]
fn a_fault_names_the_field_and_its_text() {
    for (text, field, part) in [
        ("60 22 * * *", "minute", "60"),
        ("+5 22 * * *", "minute", "+5"),
        ("000 22 * * *", "minute", "000"),
        ("jan 22 * * *", "minute", "jan"),
        ("0 24 * * *", "hour", "24"),
        ("0 22 0 * *", "day-of-month", "0"),
        ("0 22 32 * *", "day-of-month", "32"),
        ("0 22 ? * *", "day-of-month", "?"),
        ("0 22 L * *", "day-of-month", "L"),
        ("0 22 15W * *", "day-of-month", "15W"),
        ("0 22 5/2 * *", "day-of-month", "5/2"),
        ("0 22 /2 * *", "day-of-month", "/2"),
        ("0 22 */0 * *", "day-of-month", "*/0"),
        ("0 22 */32 * *", "day-of-month", "*/32"),
        ("0 22 */ * *", "day-of-month", "*/"),
        ("0 22 */2/2 * *", "day-of-month", "*/2/2"),
        ("0 22 20-10 * *", "day-of-month", "20-10"),
        ("0 22 1-2-3 * *", "day-of-month", "1-2-3"),
        ("0 22 -5 * *", "day-of-month", "-5"),
        ("0 22 1,,2 * *", "day-of-month", "1,,2"),
        ("0 22 1, * *", "day-of-month", "1,"),
        ("0 22 ** * *", "day-of-month", "**"),
        ("0 22 *-5 * *", "day-of-month", "*-5"),
        ("0 22 １ * *", "day-of-month", "１"),
        ("0 22 * 13 *", "month", "13"),
        ("0 22 * 0 *", "month", "0"),
        ("0 22 * january *", "month", "january"),
        ("0 22 * mon *", "month", "mon"),
        ("0 22 * * 8", "day-of-week", "8"),
        ("0 22 * * 5#3", "day-of-week", "5#3"),
        ("0 22 * * 5L", "day-of-week", "5L"),
        ("0 22 * * tues", "day-of-week", "tues"),
        ("0 22 * * sat-sun", "day-of-week", "sat-sun"),
        ("0 22 * * *\n", "day-of-week", "*\n"),
    ] {
        match text.parse::<CronLine>() {
            Err(CronError::Field { field: f, text: t, .. }) => {
                assert_eq!((f, t.as_str()), (field, part), "{text}")
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
}

#[test]
fn a_line_has_five_fields() {
    for (text, found) in [("", 0), ("  ", 0), ("0 22 * *", 4), ("0 0 22 * * *", 6), ("0 22 * * * 2026", 6)] {
        assert_eq!(text.parse::<CronLine>(), Err(CronError::Fields { line: text.into(), found }), "{text:?}");
    }
    assert_eq!("@daily".parse::<CronLine>(), Err(CronError::Short("@daily".into())));
    assert_eq!("@every 5m".parse::<CronLine>(), Err(CronError::Short("@every".into())));
    let long = format!("0 22 {} * *", "1,".repeat(1000));
    assert!(matches!(long.parse::<CronLine>(), Err(CronError::Long { .. })));
}

#[test]
fn a_line_that_can_never_fire_is_refused() {
    for never in ["0 22 30 2 *", "0 22 30,31 feb *", "0 22 31 4,6,9,11 *", "0 22 31 4 */2"] {
        assert_eq!(never.parse::<CronLine>(), Err(CronError::Never(never.into())));
    }
    for now_and_then in ["0 22 29 2 *", "0 22 31 4,5 *", "0 22 31 4 1"] {
        line(now_and_then);
    }
}

/// One field with names and star forms, weighed towards what people write.
fn field(min: u32, max: u32, names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let item = prop_oneof![
        4 => (min..=max).prop_map(|n| n.to_string()),
        2 => (min..=max, min..=max).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        1 => (min..=max, min..=max, 1..=max).prop_map(|(a, b, s)| format!("{}-{}/{s}", a.min(b), a.max(b))),
        1 => prop::sample::select(if names.is_empty() { &["3"][..] } else { names }).prop_map(str::to_owned),
    ];
    prop_oneof![
        3 => Just("*".to_owned()),
        1 => (1..=max).prop_map(|step| format!("*/{step}")),
        4 => prop::collection::vec(item, 1..4).prop_map(|items| items.join(",")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Four years against another implementation. It knows the either-or rule only for a bare `*`, so that it is told
    /// when a field merely begins with one.
    #[test]
    fn days_agree_with_croner(
        of_month in field(1, 31, &[]),
        month in field(1, 12, &["jan", "FEB", "Dec"]),
        of_week in field(0, 7, &["sun", "MON", "Sat"]),
        start in 0u64..20_000,
    ) {
        let text = format!("30 21 {of_month} {month} {of_week}");
        let both = of_month.starts_with('*') || of_week.starts_with('*');
        let oracle = croner::parser::CronParser::builder().dom_and_dow(both).build().parse(&text).unwrap();
        let first = Day::FIRST.date() + chrono::Days::new(start);
        let days: Vec<_> = first.iter_days().take(1461).filter_map(Day::of).collect();
        let wall = NaiveTime::from_hms_opt(21, 30, 0).unwrap();
        let theirs: Vec<_> = days
            .iter()
            .filter(|day| {
                let at: NaiveDateTime = day.date().and_time(wall);
                oracle.is_time_matching(&at).unwrap()
            })
            .collect();
        match text.parse::<CronLine>() {
            Ok(line) => {
                let ours: Vec<_> = days.iter().filter(|&&day| line.wall(day) == Some(wall)).collect();
                prop_assert_eq!(ours, theirs, "{}", text);
            }
            Err(CronError::Never(_)) => prop_assert!(theirs.is_empty(), "{}", text),
            Err(fault) => prop_assert!(false, "{}", fault),
        }
    }

    #[test]
    fn no_text_breaks_the_reader(text in "[-0-9*,/ a-z?#L]{0,30}|\\PC{0,300}") {
        match text.parse::<CronLine>() {
            Ok(line) => prop_assert_eq!(line.to_string(), text),
            Err(fault) => prop_assert!(fault.to_string().len() < 1500),
        }
    }
}
