//! What a page forgets when it is written.

use chrono::TimeDelta;
use proptest::prelude::*;

use super::*;
use crate::RosterRow;

/// A page and its records, as an engine holds them.
#[derive(Default)]
struct Held {
    page: Option<Vec<u8>>,
    records: BTreeMap<Uid, Vec<u8>>,
}

impl Held {
    /// Takes a step; answers whether something was written, and whether those who follow hear of it.
    fn step(&mut self, step: &Step, now: Instant) -> (bool, bool) {
        let record = (step.uid(), self.records.get(&step.uid()).cloned());
        let mut edit = Edit::open(0, self.page.clone(), [record], now).unwrap();
        edit.step(step);
        let Some(write) = edit.end() else { return (false, false) };
        self.page = write.bytes;
        for (uid, record) in write.records {
            match record {
                Some(record) => drop(self.records.insert(uid, record)),
                None => drop(self.records.remove(&uid)),
            }
        }
        (true, write.turned)
    }

    fn rows(&self) -> Vec<RosterRow> {
        self.page.iter().flat_map(|bytes| Page::new(0, bytes.clone()).rows().unwrap()).collect()
    }

    fn due_from(&self, uid: u64) -> Instant {
        self.rows().iter().find(|row| row.uid == Uid(uid)).unwrap().due_from
    }
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn put(uid: u64, name: &str, consent_at: Option<Instant>) -> Step {
    Step::Put(NewUser {
        uid: Uid(uid),
        zone: "Asia/Tokyo".parse().unwrap(),
        region: None,
        language: None,
        consent: Some(true),
        consent_at,
        devices: None,
        name: Some(name.into()),
    })
}

#[test]
fn what_is_too_old_goes_with_the_next_write_and_is_no_change() {
    let (first, later) = (at("2026-06-01T12:00:00Z"), at("2026-06-18T12:00:00Z"));
    let mut held = Held::default();
    assert_eq!(held.step(&put(1, "a", None), first), (true, true));
    assert_eq!(held.step(&put(2, "b", None), first + TimeDelta::minutes(1)), (true, true));
    // nothing is written only because time went on
    assert_eq!(held.step(&put(1, "a", None), later), (false, false));
    assert_eq!(held.due_from(1), first);
    // nor told, when something else is written
    assert_eq!(held.step(&put(2, "c", None), later), (true, false));
    assert_eq!([1, 2].map(|uid| held.due_from(uid)), [Instant::UNIX_EPOCH, first + TimeDelta::minutes(1)]);
    let record = Decoder::default().user(Uid(1), &held.records[&Uid(1)]).unwrap();
    assert_eq!(record.consent_at, first);
    // who opts in anew is due from then on
    assert_eq!(held.step(&put(1, "a", Some(later)), later), (true, true));
    assert_eq!(held.due_from(1), later);
}

#[test]
fn under_a_clock_that_was_set_back_a_record_brings_its_instant_with_it() {
    let first = at("2026-06-01T12:00:00Z");
    let mut held = Held::default();
    held.step(&put(1, "a", None), first);
    held.step(&put(2, "b", None), first + TimeDelta::days(20));
    assert_eq!(held.due_from(1), Instant::UNIX_EPOCH);
    assert_eq!(held.step(&put(1, "c", None), first + TimeDelta::days(10)), (true, true));
    assert_eq!(held.due_from(1), first);
}

/// Some changes, some hours apart: a user, the seconds since they opted in, and whether they are deleted instead.
fn changes() -> impl Strategy<Value = Vec<(u64, i64, bool, i64)>> {
    prop::collection::vec((0u64..12, 0i64..25 * 86_400, prop::bool::weighted(0.2), 0i64..100), 1..30)
}

proptest! {
    /// Of every night that may still be sealed.
    #[test]
    fn who_is_due_is_as_by_the_exact_consent(changes in changes()) {
        let (mut held, mut now) = (Held::default(), at("2026-06-07T12:00:00Z"));
        for (uid, seconds, gone, hours) in changes {
            now += TimeDelta::hours(hours);
            let consent_at = now - TimeDelta::seconds(seconds);
            let step = if gone { Step::Delete(Uid(uid)) } else { put(uid, "a", Some(consent_at)) };
            held.step(&step, now);
            let rows = held.rows();
            prop_assert_eq!(rows.len(), held.records.len());
            for row in rows {
                let exact = Decoder::default().user(row.uid, &held.records[&row.uid]).unwrap().consent_at;
                let minute = exact - TimeDelta::seconds(exact.timestamp() % 60);
                let near = (-1..=2).map(|minutes| minute + TimeDelta::minutes(minutes));
                let oldest = now - TimeDelta::days(16);
                for night in near.chain([oldest, now]).filter(|night| *night >= oldest) {
                    prop_assert_eq!(row.due_from <= night, exact <= night, "{} {} {}", row.due_from, exact, night);
                }
            }
        }
    }
}
