use domain::Instant;

use super::*;
use crate::Source;

fn day(text: &str) -> Day {
    text.parse().unwrap()
}

fn report(amount: Amount, source: &str, id: Option<u64>) -> Report {
    let source: Source = source.parse().unwrap();
    let freezes = Instant::UNIX_EPOCH + chrono::TimeDelta::milliseconds(1_000);
    Report { uid: Uid(5), day: day("20260607"), source, amount, id: id.map(ReportId), freezes }
}

fn of(reports: Vec<Report>, learnt: &Learnt) -> Work {
    let unit = units(reports).pop().unwrap();
    work(&unit, Pages::new(), learnt)
}

#[test]
fn an_id_is_stored_once_whatever_day_it_names() {
    let next = Report { day: day("20260608"), ..report(Amount::Add(7), "phone", Some(1)) };
    let work = of(vec![report(Amount::Add(7), "phone", Some(1)), next], &Learnt::default());
    assert_eq!(work.answers, [Reported::Stored(7), Reported::Repeat(0)]);
    assert!(work.pages.keys().eq([&day("20260607")]));
}

#[test]
fn what_is_refused_leaves_nothing_behind() {
    let learnt = Learnt { frozen: Some(1_000), known: [(Uid(5), ReportId(2))].into(), ..Learnt::default() };
    let work =
        of(vec![report(Amount::Add(1), "phone", Some(1)), report(Amount::Add(1), "phone", Some(2))], &learnt);
    // a known id comes before the freeze
    assert_eq!(work.answers, [Reported::Refused(Refusal::TooLate), Reported::Repeat(0)]);
    assert!(work.pages.is_empty() && work.ids.is_empty() && work.users.is_empty() && work.freezes.is_none());
    assert_eq!(
        of(vec![report(Amount::Add(1), "phone", None)], &Learnt { frozen: Some(999), ..learnt }).freezes,
        Some(1_000)
    );
}

#[test]
fn ids_are_bounded() {
    let epoch = Epoch::of(day("20260607"));
    let learnt = Learnt { counts: [((Uid(5), epoch), MOST_IDS - 2)].into(), ..Learnt::default() };
    let reports = (0..4).map(|id| report(Amount::Add(1), "phone", (id != 1).then_some(id))).collect();
    let wanted = [
        Reported::Stored(1),
        Reported::Stored(2),
        Reported::Stored(3),
        Reported::Refused(Refusal::TooManyReports),
    ];
    assert_eq!(of(reports, &learnt).answers, wanted);
}

#[test]
fn only_a_number_that_changes_is_told_of() {
    let reports = vec![report(Amount::Total(9), "phone", None), report(Amount::Total(8), "watch", None)];
    let work = of(reports, &Learnt::default());
    assert_eq!(work.changes, BTreeMap::from([(day("20260607"), vec![(Uid(5), Some(9))])]));
    let work = of(vec![report(Amount::Total(0), "phone", None)], &Learnt::default());
    assert_eq!((work.answers, work.pages.len(), work.changes.len()), (vec![Reported::Stored(0)], 1, 0));
}

#[test]
fn a_page_that_cannot_be_read_refuses_its_own_day_alone() {
    let unit = units(vec![
        report(Amount::Add(1), "phone", None),
        Report { day: day("20260608"), ..report(Amount::Add(2), "phone", None) },
    ])
    .pop()
    .unwrap();
    let work = work(&unit, Pages::from([(day("20260607"), None)]), &Learnt::default());
    assert_eq!(work.answers, [Reported::Refused(Refusal::Unreadable), Reported::Stored(2)]);
}
