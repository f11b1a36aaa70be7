//! The day before the night: what phones and watches report, and when.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use domain::{Day, Instant, Uid};

use super::{population::Person, random::Random};

/// Mean steps by the hour of the day, 0 to 23, of the 22,099 hours in the public data set Fitabase (33 people, April and May
/// 2016, Zenodo 53894).
const SHAPE: [u32; 24] = [
    42, 23, 17, 6, 13, 44, 179, 306, 428, 433, 482, 457, 549, 538, 541, 406, 497, 550, 599, 583, 354, 308,
    238, 123,
];

/// Of a hundred: hours at whose end a phone reports; watches that see the whole walk while the phone lies on the table now and
/// then; reports that are sent again; people whose last report of the day is late.
const REPORTS: u32 = 25;
const PHONE_SEES: (u32, u32) = (60, 95);
const SENT_AGAIN: u32 = 4;
const LATE: u32 = 10;
/// Of a thousand people: those with a watch that counts wildly, a clock two days fast, a day in hand that is over.
const ODD: u32 = 5;

/// The hour after which everybody has reported once more, before the night.
const EVENING: i64 = 21;

/// Something reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Report {
    /// Who.
    pub(super) uid: Uid,
    /// When it was walked.
    pub(super) at: Instant,
    /// What counted it.
    pub(super) source: Source,
    /// How far.
    pub(super) walked: Walked,
    /// Of the person's reports which; one that is sent again has the number of the first.
    pub(super) number: u16,
}

/// What counts steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Lies on the table now and then.
    Phone,
    /// Sees every step.
    Watch,
}

/// How far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walked {
    /// Steps since the report before.
    Steps(u32),
    /// All of the day so far.
    Total(u32),
}

/// What is reported at each instant, in the order of time.
pub(super) type Waves = BTreeMap<Instant, Vec<Report>>;

/// Adds what is reported of a person's `day`: nothing, where they walked nothing or the date never was.
pub(super) fn add(waves: &mut Waves, person: &Person, day: Day) {
    let (Some(steps), Some(edges)) = (person.steps, person.zone.edges(day)) else { return };
    // the day has nothing to do with how the person was drawn
    let mut random = Random::of_user(!person.uid.0);
    let hours = (edges.ends - edges.begins).num_hours();
    let mut sources = vec![phone(&mut random, steps, person.devices.contains(&"watch"))];
    if person.devices.contains(&"watch") {
        sources.push((Source::Watch, true, steps));
    }
    let mut writer = Writer { waves, uid: person.uid, last: None };
    for (source, totals, steps) in sources {
        let late = random.percent(LATE);
        let mut told = 0;
        for hour in 1..=hours {
            let last = hour == hours;
            if !(last || hour == EVENING || random.percent(REPORTS)) {
                continue;
            }
            let so_far = until(steps, hour, hours);
            let walked = if totals { Walked::Total(so_far) } else { Walked::Steps(so_far - told) };
            told = so_far;
            let end = edges.begins + TimeDelta::hours(hour);
            // the last minute of the day is in it; who is late reports within the window after midnight
            let (at, sent) = match (last, late) {
                (true, true) => (edges.ends - TimeDelta::minutes(1), edges.ends + TimeDelta::minutes(3)),
                (true, false) => (edges.ends - TimeDelta::minutes(20), edges.ends - TimeDelta::minutes(15)),
                (false, _) => (end - TimeDelta::minutes(1), end),
            };
            writer.report(sent, Report { uid: person.uid, at, source, walked, number: 0 });
            if random.percent(SENT_AGAIN) {
                writer.again(sent + TimeDelta::minutes(15));
            }
        }
    }
    odd(&mut writer, &mut random, edges.begins + TimeDelta::hours(12));
}

/// What the phone counts: whether totals, and how much of the day it sees.
fn phone(random: &mut Random, steps: u32, beside_a_watch: bool) -> (Source, bool, u32) {
    let totals = random.percent(50);
    let (least, most) = PHONE_SEES;
    let share = least + random.below(most - least);
    let seen = if beside_a_watch { u64::from(steps) * u64::from(share) / 100 } else { steps.into() };
    (Source::Phone, totals, u32::try_from(seen).unwrap_or(steps))
}

/// What should be refused: a watch that counts wildly, a clock two days fast, a day that was over long ago.
fn odd(writer: &mut Writer<'_>, random: &mut Random, noon: Instant) {
    let uid = writer.uid;
    let report = |at, source, walked| Report { uid, at, source, walked, number: 0 };
    match random.below(1_000) / ODD {
        0 => writer.report(noon, report(noon, Source::Watch, Walked::Total(536_876_864))),
        1 => writer.report(noon, report(noon + TimeDelta::days(2), Source::Phone, Walked::Steps(700))),
        2 => writer.report(noon, report(noon - TimeDelta::days(5), Source::Phone, Walked::Steps(700))),
        _ => {}
    }
}

/// Of the steps of a day, those walked in its first hours; a day may have 23 or 25.
fn until(steps: u32, hour: i64, hours: i64) -> u32 {
    if hour >= hours {
        return steps;
    }
    let hour = usize::try_from(hour).unwrap_or(0).min(SHAPE.len());
    let part = |of: &[u32]| of.iter().map(|steps| u64::from(*steps)).sum::<u64>();
    u32::try_from(u64::from(steps) * part(&SHAPE[..hour]) / part(&SHAPE)).unwrap_or(steps)
}

/// Puts one person's reports into the waves.
struct Writer<'a> {
    waves: &'a mut Waves,
    uid: Uid,
    last: Option<Report>,
}

impl Writer<'_> {
    fn report(&mut self, sent: Instant, report: Report) {
        let number = self.last.map_or(0, |last| last.number) + 1;
        let report = Report { number, ..report };
        self.last = Some(report);
        self.waves.entry(sent).or_default().push(report);
    }

    /// The last one once more.
    fn again(&mut self, sent: Instant) {
        self.waves.entry(sent).or_default().extend(self.last);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn person(uid: u64, zone: &str, devices: &'static [&'static str], steps: Option<u32>) -> Person {
        let zone = zone.parse().unwrap();
        Person { uid: Uid(uid), zone, consent: true, devices, steps, language: "en", name: String::new() }
    }

    fn day() -> Day {
        "20260607".parse().unwrap()
    }

    /// What sources that saw nothing wrong add up to, in the order of time.
    fn numbers(waves: &Waves) -> BTreeMap<(u64, bool), u32> {
        let (mut numbers, mut seen) = (BTreeMap::<_, u32>::new(), std::collections::HashSet::new());
        for report in waves.values().flatten() {
            let held = numbers.entry((report.uid.0, report.source == Source::Watch)).or_default();
            match report.walked {
                Walked::Steps(steps) if seen.insert((report.uid, report.number)) => *held += steps,
                Walked::Steps(_) => {}
                Walked::Total(total) => *held = total.max(*held),
            }
        }
        numbers
    }

    #[test]
    fn everybody_ends_with_their_steps_and_has_some_before_the_night() {
        let mut waves = Waves::new();
        let people: Vec<_> = (1..=2_000)
            .map(|uid| match uid % 2 {
                0 => person(uid, "Asia/Kathmandu", &["phone"], Some(9_000)),
                _ => person(uid, "Europe/London", &["phone", "watch"], Some(9_000)),
            })
            .collect();
        people.iter().for_each(|person| add(&mut waves, person, day()));
        let odd = |report: &Report| {
            let edges = people[usize::try_from(report.uid.0 - 1).unwrap()].zone.edges(day()).unwrap();
            report.at < edges.begins || report.at >= edges.ends || report.walked == Walked::Total(536_876_864)
        };
        let refused: usize = waves.values().flatten().filter(|r| odd(r)).count();
        assert!((10..60).contains(&refused), "{refused}");
        waves.values_mut().for_each(|wave| wave.retain(|r| !odd(r)));
        let numbers = numbers(&waves);
        assert_eq!(numbers.len(), 3_000);
        assert!(
            numbers.iter().all(|((uid, watch), n)| *n == 9_000 || (uid % 2 == 1 && !watch && *n > 5_000))
        );
        for person in &people {
            let night = person.zone.edges(day()).unwrap().begins + TimeDelta::hours(22);
            assert!(waves.range(..night).any(|(_, wave)| wave.iter().any(|r| r.uid == person.uid)));
        }
    }

    #[test]
    fn some_come_late_and_some_twice_and_who_walked_nothing_never() {
        let mut waves = Waves::new();
        (1..=500).for_each(|uid| add(&mut waves, &person(uid, "Asia/Tokyo", &["phone"], Some(7_000)), day()));
        let ends =
            "20260607".parse::<Day>().ok().and_then(|d| "Asia/Tokyo".parse::<domain::Zone>().ok()?.edges(d));
        let ends = ends.unwrap().ends;
        let late = waves.range(ends..).flat_map(|(_, wave)| wave).count();
        assert!((20..120).contains(&late), "{late}");
        let all = waves.values().flatten().count();
        let once: std::collections::HashSet<_> =
            waves.values().flatten().map(|r| (r.uid, r.number)).collect();
        assert!(all > once.len());
        let mut none = Waves::new();
        add(&mut none, &person(1, "Asia/Tokyo", &["phone"], None), day());
        assert!(none.is_empty());
    }
}
