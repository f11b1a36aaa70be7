use std::collections::BTreeMap;

use domain::Uid;
use step_store::{Amount, Reported};

use crate::engine::{Engine, add, now, numbers, of_source, report, today};

pub(crate) async fn calls_at_once_lose_nothing(engine: &mut impl Engine) {
    let calls: Vec<_> = (0..32)
        .map(|_| {
            let store = engine.store();
            let reports = (0..50).map(|uid| report(uid * 100, Amount::Add(3))).collect();
            tokio::spawn(async move { store.report(reports, now()).await })
        })
        .collect();
    for call in calls {
        assert!(call.await.unwrap().unwrap().iter().all(|answer| matches!(answer, Reported::Stored(_))));
    }
    let uids: Vec<_> = (0..50).map(|uid| uid * 100).collect();
    assert_eq!(numbers(&engine.store(), &uids, today()).await, vec![96; 50]);
}

/// Several clients report for the same users, each report twice or more: a plain recount of what was answered as stored is
/// what is there.
pub(crate) async fn what_was_answered_as_stored_is_what_is_there(engine: &mut impl Engine) {
    let calls: Vec<_> = (0..12u64)
        .map(|client| {
            let store = if client % 2 == 0 { engine.store() } else { engine.other() };
            tokio::spawn(async move {
                let mut stored = BTreeMap::<(u64, String), u32>::new();
                for round in 0..15u64 {
                    // two clients each give the same increments
                    let of = |n: u64| {
                        let source = if n.is_multiple_of(3) { "watch" } else { "phone" };
                        let one = of_source(add(n % 70, 1 + u32::try_from(n % 9).unwrap(), "x"), source);
                        crate::engine::named(one, &format!("{}-{round}-{n}", client / 2))
                    };
                    let reports: Vec<_> = (0..40).map(|n| of(n * 7 + round)).collect();
                    let answers = store.report(reports.clone(), now()).await.unwrap();
                    for (report, answer) in reports.into_iter().zip(answers) {
                        let (Amount::Add(steps), Reported::Stored(_)) = (report.amount, answer) else {
                            continue;
                        };
                        *stored.entry((report.uid.0, report.source.to_string())).or_default() += steps;
                    }
                }
                stored
            })
        })
        .collect();
    let mut recount = BTreeMap::<(u64, String), u32>::new();
    for call in calls {
        for (at, steps) in call.await.unwrap() {
            *recount.entry(at).or_default() += steps;
        }
    }
    let store = engine.store();
    for uid in 0..70 {
        let entry = store.entry(Uid(uid), today()).await.unwrap().unwrap_or_default();
        for one in entry.sources {
            assert_eq!(recount.remove(&(uid, one.source.to_string())), Some(one.total));
        }
    }
    assert!(recount.is_empty());
}
