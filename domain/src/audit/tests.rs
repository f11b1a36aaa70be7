use chrono::TimeDelta;

use super::*;
use crate::Rule;

fn zone(name: &str) -> Zone {
    name.parse().unwrap()
}

fn day(number: u32) -> Day {
    Day::from_number(number).unwrap()
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

#[test]
fn a_night_in_a_gap_is_listed_as_such() {
    let line = "0 22 * * *".parse().unwrap();
    let rows: Vec<_> = audit(&line, 3600, [zone("Pacific/Easter")], day(20_260_905), 2).collect();
    let at: Vec<_> =
        rows.iter().map(|row| (row.day.number(), row.fires.unwrap().at, row.fires.unwrap().rule)).collect();
    // The clock is at -06 until then and at -05 afterwards.
    assert_eq!(
        at,
        [
            (20_260_905, self::at("2026-09-06T04:00:00Z"), Rule::Gap),
            (20_260_906, self::at("2026-09-07T03:00:00Z"), Rule::Exact),
        ]
    );
    let verdict: AuditVerdict = rows.iter().collect();
    assert_eq!((verdict.rows, verdict.fires, verdict.gaps, verdict.folds, verdict.failures), (2, 2, 1, 0, 0));
    assert!(verdict.holds());
}

#[test]
fn a_date_that_never_was_fires_never() {
    let line = "0 22 * * *".parse().unwrap();
    let rows: Vec<_> = audit(&line, 60, [zone("Pacific/Apia")], day(20_111_229), 3).collect();
    assert_eq!(rows.iter().map(|row| row.count).collect::<Vec<_>>(), [1, 0, 1]);
    assert!(rows[1].fires.is_none() && rows[1].edges.is_none() && rows[1].turn.is_none() && rows[1].selected);
    assert!(rows.iter().collect::<AuditVerdict>().holds());
}

#[test]
fn dates_that_are_not_selected_fire_never() {
    let line = "30 1 * * 1-5".parse().unwrap();
    let verdict: AuditVerdict =
        audit(&line, 60, Zone::all().step_by(40), day(20_260_601), 28).collect::<Vec<_>>().iter().collect();
    assert_eq!((verdict.rows, verdict.fires), (15 * 28, 15 * 20));
    assert!(verdict.holds(), "{:?}", verdict.first);
}

#[test]
fn the_calendar_has_ends() {
    let line = "0 22 * * *".parse().unwrap();
    let first: Vec<_> = audit(&line, 60, [zone("Pacific/Kiritimati")], Day::FIRST, 1).collect();
    assert_eq!((first[0].count, first[0].fault()), (1, None));
    let last: Vec<_> =
        audit(&line, 60, [zone("UTC"), zone("Pacific/Pago_Pago")], Day::LAST.previous().previous(), 400)
            .collect();
    assert_eq!(last.len(), 6, "no date is given twice");
    assert!(last.iter().all(|row| row.fault().is_none()), "{last:?}");
}

/// What a wrong `fire` would look like.
#[test]
fn faults_are_found() {
    let line = "0 23 * * *".parse().unwrap();
    let row = audit(&line, 60, [zone("America/Santiago")], day(20_260_404), 1).next().unwrap();
    let right = row.fires.unwrap();
    assert_eq!(row.fault(), None);
    let turn = Turn { at: at("2026-04-05T02:00:00Z"), rule: Rule::Fold };

    let second = Fire { at: right.at + TimeDelta::hours(1), ..right };
    let exact = Fire { rule: Rule::Exact, ..right };
    for (count, fires, fault) in [
        (0, None, AuditFault::Never),
        (0, Some(right), AuditFault::Never),
        (2, Some(right), AuditFault::Often(2)),
        (1, Some(second), AuditFault::Elsewhere(turn)),
        (1, Some(exact), AuditFault::Elsewhere(turn)),
        (1, None, AuditFault::Elsewhere(turn)),
    ] {
        assert_eq!(AuditRow { count, fires, ..row.clone() }.fault(), Some(fault));
    }
    let unselected = AuditRow { selected: false, ..row };
    assert_eq!(unselected.fault(), Some(AuditFault::Uncalled));
    let quiet = AuditRow { count: 0, fires: None, ..unselected };
    assert_eq!(quiet.fault(), None);

    let verdict: AuditVerdict = std::iter::repeat_n(&AuditRow { count: 0, ..row }, 1001).collect();
    assert!(!verdict.holds());
    assert_eq!((verdict.failures, verdict.first.len()), (1001, 1000));
    assert_eq!(
        AuditFault::Elsewhere(turn).to_string(),
        "fires at another instant or by another rule than 2026-04-05T02:00:00Z (fold)"
    );
}
