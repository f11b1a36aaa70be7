use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::{Day, Uid};
use proptest::{collection::vec, prelude::*, strategy::ValueTree, test_runner::TestRunner};
use step_store::{Amount, Read, Refusal, Report, Reported};

use crate::engine::{Engine, days_after, noon, of_source};

/// (user, days after 7 June, source, amount, whether a total, id) of a report.
type Spoken = (u64, i64, u8, u32, bool, u8);

/// The rules of the spec over a plain map.
#[derive(Default)]
struct Model {
    sources: HashMap<(u64, Day), BTreeMap<String, (bool, u32)>>,
    ids: BTreeSet<(u64, u64)>,
    frozen: i64,
}

pub(crate) async fn it_agrees_with_a_plain_map(engine: &mut impl Engine) {
    let store = engine.store();
    let report =
        (0u64..4, 0i64..3, 0u8..10, prop_oneof![0u32..30_000, Just(190_000u32)], any::<bool>(), 0u8..30);
    let strategy = vec((vec(report, 0..25), 0u8..12), 1..8);
    let mut runner = TestRunner::default();
    let mut model = Model { frozen: i64::MIN, ..Model::default() };
    for case in 0..24 {
        let calls: Vec<(Vec<Spoken>, u8)> = strategy.new_tree(&mut runner).unwrap().current();
        for (call, freeze) in calls {
            let reports: Vec<_> = call.iter().map(|spoken| made(case, spoken)).collect();
            let wanted: Vec<_> = reports.iter().map(|report| model.take(report)).collect();
            assert_eq!(store.report(reports, noon()).await.unwrap(), wanted, "{call:?}");
            // late in the run the first of the days freezes
            if freeze == 0 && case > 16 {
                let to = crate::engine::freezes(days_after(0));
                store.freeze(to).await.unwrap();
                model.frozen = to.timestamp_millis();
            }
        }
    }
    for ((uid, day), sources) in &model.sources {
        let number = sources.values().map(|(_, total)| *total).max().unwrap();
        assert_eq!(store.read_many(&[Uid(*uid)], *day).await.unwrap(), [Read::Steps(number)]);
        let entry = store.entry(Uid(*uid), *day).await.unwrap().unwrap();
        let held: BTreeMap<_, _> = entry.sources.iter().map(|s| (s.source.to_string(), s.total)).collect();
        assert_eq!(held, sources.iter().map(|(name, (_, total))| (name.clone(), *total)).collect());
    }
}

/// Users of a case are moved apart from those of the others, so that their ids are new.
fn made(case: u64, (uid, off, source, amount, total, id): &Spoken) -> Report {
    let amount = if *total { Amount::Total(*amount) } else { Amount::Add(*amount) };
    let id = (!total || id % 2 == 0).then_some(u64::from(*id));
    of_source(&format!("s{source}"), case * 1_000 + uid * 20, days_after(*off), amount, id)
}

impl Model {
    fn take(&mut self, report: &Report) -> Reported {
        let (uid, source) = (report.uid.0, report.source.to_string());
        let sources = self.sources.get(&(uid, report.day)).cloned().unwrap_or_default();
        let number =
            |sources: &BTreeMap<_, (bool, u32)>| sources.values().map(|(_, total)| *total).max().unwrap_or(0);
        if report.id.is_some_and(|id| self.ids.contains(&(uid, id.0))) {
            return Reported::Repeat(number(&sources));
        }
        let held = sources.get(&source).copied();
        let (total, value) = match report.amount {
            Amount::Add(steps) => (false, held.map_or(0, |(_, before)| before) + steps),
            Amount::Total(total) => (true, total),
        };
        if total && held.is_some_and(|(kind, before)| kind && value <= before) {
            return Reported::Repeat(number(&sources));
        }
        if report.freezes.timestamp_millis() <= self.frozen {
            return Reported::Refused(Refusal::TooLate);
        }
        if held.is_some_and(|(kind, _)| kind != total) {
            return Reported::Refused(Refusal::MixedKind);
        }
        if held.is_none() && sources.len() >= 8 {
            return Reported::Refused(Refusal::TooManySources);
        }
        if value > 200_000 {
            return Reported::Refused(Refusal::TooMany);
        }
        let mut sources = sources;
        sources.insert(source, (total, value));
        let number = number(&sources);
        self.sources.insert((uid, report.day), sources);
        self.ids.extend(report.id.map(|id| (uid, id.0)));
        Reported::Stored(number)
    }
}
