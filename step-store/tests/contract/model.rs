use std::collections::{BTreeMap, HashSet};

use chrono::TimeDelta;
use domain::{Day, Uid};
use proptest::{collection::vec, prelude::*, strategy::ValueTree, test_runner::TestRunner};
use step_store::{Amount, Refusal, Report, Reported};

use crate::engine::{Engine, give, named, now, of_source, report};

/// One report: (user, days after 7 June, source, total instead of increment, steps, id).
type One = (u64, u32, u8, bool, u32, Option<u8>);

/// What a source has: which it is, whether it gives totals, its steps.
type Held = (u8, bool, u32);

/// A plain map of the rules.
#[derive(Default)]
struct Model {
    entries: BTreeMap<(u64, Day), Vec<Held>>,
    ids: HashSet<(u64, u8, u8)>,
    frozen: i64,
}

pub(crate) async fn it_agrees_with_a_plain_map(engine: &mut impl Engine) {
    let store = engine.store();
    let one = (0u64..4, 0u32..3, 0u8..10, prop::bool::weighted(0.4), 0u32..90_000, prop::option::of(0u8..30));
    let strategy = vec((vec(one, 0..30), prop::bool::weighted(0.1)), 1..6);
    let mut runner = TestRunner::default();
    let mut model = Model::default();
    let mut freezes = 0;
    for case in 0..24 {
        let calls: Vec<(Vec<One>, bool)> = strategy.new_tree(&mut runner).unwrap().current();
        for (call, freeze) in &calls {
            // users of a case are apart from those of the others
            let call: Vec<One> = call
                .iter()
                .map(|one| (case * 1_000 + one.0 * 20, one.1, one.2, one.3, one.4, one.5))
                .collect();
            let reports: Vec<_> = call.iter().map(made).collect();
            let wanted: Vec<_> =
                call.iter().zip(&reports).map(|(one, report)| model.take(one, report)).collect();
            assert_eq!(give(&store, reports).await, wanted, "{call:?}");
            if *freeze {
                // the Days of later cases freeze later
                freezes += 1;
                let to = now() + TimeDelta::seconds(freezes);
                model.frozen = to.timestamp();
                store.freeze(to).await.unwrap();
            }
        }
    }
    for ((uid, day), sources) in model.entries {
        let entry = store.entry(Uid(uid), day).await.unwrap().unwrap();
        let held: Vec<_> = entry.sources.iter().map(|one| (one.source.to_string(), one.total)).collect();
        let wanted: Vec<_> =
            sources.iter().map(|(source, _, total)| (format!("s{source}"), *total)).collect();
        assert_eq!(held, wanted);
    }
}

/// Those of users 0 freeze with the first freezes, others much later.
fn made(one: &One) -> Report {
    let (uid, days, source, totals, steps, id) = *one;
    let amount = if totals { Amount::Total(steps) } else { Amount::Add(steps) };
    let made = of_source(report(uid, amount), &format!("s{source}"));
    let made = match id {
        Some(id) => named(made, &id.to_string()),
        None => made,
    };
    let freezes =
        if uid % 1_000 == 0 { now() + TimeDelta::seconds(2 + i64::from(days)) } else { made.freezes };
    Report { day: Day::from_number(20_260_607 + days).unwrap(), freezes, ..made }
}

impl Model {
    fn take(&mut self, one: &One, report: &Report) -> Reported {
        let (uid, _, source, totals, steps, id) = *one;
        let sources = self.entries.get(&(uid, report.day)).cloned().unwrap_or_default();
        let number = |sources: &[Held]| sources.iter().map(|held| held.2).max().unwrap_or(0);
        if id.is_some_and(|id| self.ids.contains(&(uid, source, id))) {
            return Reported::Repeat(number(&sources));
        }
        if report.freezes.timestamp() <= self.frozen {
            return Reported::Refused(Refusal::TooLate);
        }
        let before = number(&sources);
        let held = sources.iter().position(|held| held.0 == source);
        let full = sources.len() == 8;
        let mut after = sources;
        match held.map(|at| &mut after[at]) {
            Some((_, as_totals, _)) if *as_totals != totals => return Reported::Refused(Refusal::MixedKind),
            Some((.., held)) if totals && steps <= *held => return Reported::Repeat(before),
            Some((.., held)) => *held = if totals { steps } else { *held + steps },
            None if full => return Reported::Refused(Refusal::TooManySources),
            None => after.push((source, totals, steps)),
        }
        if number(&after) > 200_000 {
            return Reported::Refused(Refusal::TooMany);
        }
        let answer = Reported::Stored(number(&after));
        self.entries.insert((uid, report.day), after);
        self.ids.extend(id.map(|id| (uid, source, id)));
        answer
    }
}
