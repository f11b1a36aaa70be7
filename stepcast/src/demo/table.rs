//! The closing table, for a person to read: what came of the night in each zone, and what the words mean.

use std::fmt::{self, Write};

use night_ledger::{Class, Line, Reason};

use super::{
    outcome::Outcome,
    plan::Stop,
    play::of_zones,
    walk::Counts,
    words::{self, number},
};

/// How wide the meaning of a figure may be.
const MEANING: usize = 55;

/// The table of a night and the sentences below it. No line is longer than 79 columns.
pub(super) fn table(outcome: &Outcome, stops: &[Stop]) -> Result<String, fmt::Error> {
    let mut to = String::new();
    let zones: usize = stops.iter().map(|stop| stop.zones.len()).sum();
    let zones = words::counted(u64::try_from(zones).unwrap_or(u64::MAX), "zone");
    writeln!(to, "\nThe night {}: {zones}, played in {:.1} s\n", outcome.night, outcome.seconds)?;
    day(&mut to, outcome)?;
    rows(&mut to, outcome, stops)?;
    writeln!(to)?;
    sentences(&mut to, outcome)?;
    writeln!(to)?;
    users(&mut to, outcome)?;
    verdict(&mut to, outcome)?;
    Ok(to)
}

/// What came of the reports of the day.
fn day(to: &mut String, outcome: &Outcome) -> fmt::Result {
    let Counts { reports, stored, repeats, refused, mismatch } = outcome.day;
    let [stored, repeats, refused] = [stored, repeats, refused].map(number);
    writeln!(to, "  {} over HTTP: {stored} stored, {repeats} repeats,", words::counted(reports, "report"))?;
    writeln!(to, "  {refused} refused on purpose (absurd, of the future, too late)")?;
    match mismatch {
        0 => writeln!(to, "  every user's number is that of a plain recount: mismatch 0\n"),
        users => writeln!(to, "  NUMBERS THAT A PLAIN RECOUNT DOES NOT GIVE: mismatch {}\n", number(users)),
    }
}

fn rows(to: &mut String, outcome: &Outcome, stops: &[Stop]) -> fmt::Result {
    let [due, delivered, suppressed, others] = ["due", "delivered", "suppressed", "others"];
    writeln!(
        to,
        "  {:<20} {:>5} {:>6} {due:>9} {delivered:>10} {suppressed:>10} {others:>7}",
        "zone", "local", "UTC"
    )?;
    for stop in stops {
        for &zone in &stop.zones {
            let (local, utc) = (zone.local(stop.at).format("%H:%M"), stop.at.format("%H:%M"));
            write!(to, "  {:<20} {local:>5} {utc:>6} ", zone.name())?;
            figures(to, &of_zones(&outcome.sums, &[zone].into()))?;
        }
    }
    write!(to, "  {:<33} ", "all")?;
    figures(to, &outcome.sums.total())
}

fn figures(to: &mut String, line: &Line) -> fmt::Result {
    let suppressed = line.class(Class::Suppressed);
    let others = line.due.saturating_sub(line.delivered + suppressed);
    let [due, delivered, suppressed, others] = [line.due, line.delivered, suppressed, others].map(number);
    writeln!(to, "{due:>9} {delivered:>10} {suppressed:>10} {others:>7}")
}

/// A line for each figure that is not 0, and one for all that are.
fn sentences(to: &mut String, outcome: &Outcome) -> fmt::Result {
    let total = outcome.sums.total();
    sentence(to, "delivered", total.delivered, "at least one device of the user took the push")?;
    if outcome.retries > 0 {
        let tries = total.delivered + outcome.retries + total.class(Class::Dead);
        let meaning = format!("of {} tries: failed on purpose, then made again", number(tries));
        let by_try = (1..).zip(&outcome.tally.by_attempt).map(|(t, &n)| format!("{} at try {t}", number(n)));
        let meaning = format!("{meaning}; delivered {}", by_try.collect::<Vec<_>>().join(", "));
        sentence(to, "retried", outcome.retries, &meaning)?;
    }
    let mut none = Vec::new();
    for class in Class::ALL {
        match total.class(class) {
            0 => none.push(class.name()),
            count => sentence(to, class.name(), count, &meaning(class, &total))?,
        }
    }
    match total.open {
        0 => none.push("open"),
        open => sentence(to, "open", open, "neither delivered nor closed: the night is not over")?,
    }
    match total.duplicates {
        0 => none.push("duplicates"),
        again => sentence(to, "duplicates", again, "pushed again, as a push may have been taken unrecorded")?,
    }
    sentence(to, "each of", 0, &none.join(", "))
}

/// A figure with its meaning, which goes on below itself where it is too long for a line.
fn sentence(to: &mut String, name: &str, count: u64, meaning: &str) -> fmt::Result {
    let mut lines = words::wrapped(meaning, MEANING).into_iter();
    writeln!(to, "  {name:<10} {:>9}  {}", number(count), lines.next().unwrap_or_default())?;
    lines.try_for_each(|line| writeln!(to, "{:24}{line}", ""))
}

/// What a class means, in a few words.
fn meaning(class: Class, total: &Line) -> String {
    match class {
        Class::Suppressed => {
            let reasons = Reason::ALL.iter().filter(|r| r.class() == class);
            let counts = reasons.map(|r| (why(*r), total.reasons[usize::from(r.code())]));
            let counts: Vec<_> =
                counts.filter(|(_, n)| *n > 0).map(|(why, n)| format!("{} {why}", number(n))).collect();
            format!("rightly no push: {}", counts.join(", "))
        }
        Class::Expired => "published, but not sent before the deadline".to_owned(),
        Class::Missed => "never published before the deadline".to_owned(),
        Class::Aborted => "stopped by an operator".to_owned(),
        Class::Rejected => "no device of the user takes pushes".to_owned(),
        Class::Dead => "given up after the last try; `stepcast dead list` shows them".to_owned(),
        Class::Uncertain => "sent, and no answer came".to_owned(),
    }
}

fn why(reason: Reason) -> &'static str {
    match reason {
        Reason::NoSteps => "without a step that day",
        Reason::OptedOut => "opted out since",
        Reason::NoDevice => "without a device since",
        other => other.name(),
    }
}

/// How many people there are, and why some of them were not due.
fn users(to: &mut String, outcome: &Outcome) -> fmt::Result {
    let census = &outcome.census;
    write!(to, "  {}, {} due", words::counted(census.users, "user"), number(outcome.sums.total().due))?;
    if census.opted_out + census.no_device > 0 {
        let [opted_out, no_device] = [census.opted_out, census.no_device].map(number);
        write!(to, "; not due: {opted_out} do not want the push, {no_device} have no device")?;
    }
    writeln!(to)
}

fn verdict(to: &mut String, outcome: &Outcome) -> fmt::Result {
    let unknown = outcome.sums.total().unknown();
    if unknown == 0 {
        writeln!(to, "  every user due is in exactly one of these figures: unknown 0")?;
    } else {
        writeln!(to, "  THE FIGURES DO NOT ADD UP: unknown {unknown}")?;
    }
    if outcome.agrees {
        writeln!(to, "  a recount from every user's claim agrees")
    } else {
        writeln!(to, "  A RECOUNT FROM EVERY USER'S CLAIM DISAGREES")
    }
}

#[cfg(test)]
mod tests {
    use domain::{Campaign, Night, Shard, Zone};
    use night_ledger::Sums;

    use super::*;
    use crate::demo::{fill::Census, plan, tally::Tally};

    fn outcome(lines: &[(&str, Line)], agrees: bool) -> (Outcome, Vec<Stop>) {
        let mut sums = Sums::default();
        let zone = |name: &str| name.parse::<Zone>().unwrap();
        lines.iter().for_each(|(name, line)| sums.add(zone(name), Shard(0), "stub".parse().unwrap(), line));
        let campaign = Campaign {
            name: "nightly".parse().unwrap(),
            line: "0 22 * * *".parse().unwrap(),
            window: 60,
            channels: Vec::new(),
            no_steps: Default::default(),
        };
        let night = Night { campaign: campaign.name.clone(), day: "20260607".parse().unwrap() };
        let stops = plan::stops(&campaign, night.day, lines.iter().map(|(name, _)| zone(name)));
        let day = Counts { reports: 31_000, stored: 29_000, repeats: 1_900, refused: 100, mismatch: 0 };
        let census = Census { users: 1_234_567, opted_out: 4, no_device: 3, ..Census::default() };
        let tally = Tally { by_attempt: vec![2_000, 70, 5], example: None };
        (Outcome { night, census, sums, agrees, day, tally, retries: 81, seconds: 9.87 }, stops)
    }

    fn line(due: u64, delivered: u64, reasons: &[(Reason, u64)]) -> Line {
        let mut line = Line { due, delivered, ..Line::default() };
        reasons.iter().for_each(|(reason, n)| line.reasons[usize::from(reason.code())] = *n);
        line
    }

    #[test]
    fn a_whole_night_is_told_by_zone_and_in_sentences() {
        let tokyo = line(1_100, 1_050, &[(Reason::NoSteps, 49), (Reason::Attempts, 1)]);
        let shanghai = line(1_030, 1_025, &[(Reason::NoSteps, 3), (Reason::OptedOut, 2)]);
        let (outcome, stops) = outcome(&[("Asia/Shanghai", shanghai), ("Asia/Tokyo", tokyo)], true);
        let table = table(&outcome, &stops).unwrap();
        for wanted in [
            "The night nightly/20260607: 2 zones, played in 9.9 s",
            // Tokyo is 9 h ahead of UTC and comes first
            "  zone                 local    UTC       due  delivered suppressed  others\n  \
             Asia/Tokyo           22:00  13:00     1,100      1,050         49       1\n  \
             Asia/Shanghai        22:00  14:00     1,030      1,025          5       0\n  \
             all                                   2,130      2,075         54       1\n",
            "delivered      2,075  at least one device",
            "retried           81  of 2,157 tries: failed on purpose, then made again;\n",
            "                        delivered 2,000 at try 1, 70 at try 2, 5 at try 3\n",
            "suppressed        54  rightly no push: 2 opted out since, 52 without a step\n",
            "dead               1  given up after the last try",
            "each of            0  expired, missed, aborted, rejected, uncertain, open,\n",
            "                        duplicates\n",
            "1,234,567 users, 2,130 due; not due: 4 do not want the push, 3 have no device",
            "unknown 0",
            "claim agrees",
        ] {
            assert!(table.contains(wanted), "{wanted:?} is wanted in\n{table}");
        }
        assert!(table.lines().all(|line| line.chars().count() <= 79), "{table}");
    }

    #[test]
    fn what_does_not_add_up_is_said_loudly() {
        let (outcome, stops) = outcome(&[("Asia/Tokyo", Line { open: 1, ..line(10, 7, &[]) })], false);
        let table = table(&outcome, &stops).unwrap();
        for wanted in ["open               1  neither", "DO NOT ADD UP: unknown 2", "CLAIM DISAGREES"] {
            assert!(table.contains(wanted), "{wanted:?} is wanted in\n{table}");
        }
    }
}
