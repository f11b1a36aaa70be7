use std::sync::Arc;

use chrono::TimeDelta;
use domain::Uid;
use step_store::{
    Amount::{Add, Total},
    Changed, Read, Refusal,
    Reported::{Refused, Repeat, Stored},
};
use tokio::task::JoinSet;

use crate::engine::{Engine, days_after, freezes, noon, number, of_source, posted, report, seventh, told};

pub(crate) async fn a_frozen_day_is_refused_and_the_rest_goes_on(engine: &mut impl Engine) {
    let store = engine.store();
    told(&*store, vec![report(1, Add(5), Some(1))]).await;
    store.freeze(freezes(seventh())).await.unwrap();
    let reports = vec![
        report(1, Add(6), Some(2)),
        of_source("phone", 1, days_after(1), Add(7), Some(3)),
        report(1, Total(9), None),
        report(900, Add(6), Some(1)),
        of_source("phone", 901, days_after(1), Add(7), Some(3)),
    ];
    let late = Refused(Refusal::TooLate);
    assert_eq!(told(&*store, reports).await, [late, Stored(7), late, late, Stored(7)]);
    assert_eq!(number(&*store, 1).await, 5);
}

pub(crate) async fn the_watermark_only_rises(engine: &mut impl Engine) {
    let store = engine.store();
    assert_eq!(store.frozen_to().await.unwrap(), None);
    for (to, wanted) in [(noon(), noon()), (noon() - TimeDelta::hours(1), noon())] {
        store.freeze(to).await.unwrap();
        assert_eq!(store.frozen_to().await.unwrap(), Some(wanted));
    }
    // who freezes at that very instant is frozen, who does a millisecond later is not
    let at = |ms| step_store::Report {
        freezes: noon() + TimeDelta::milliseconds(ms),
        ..report(1, Add(1), Some(ms.unsigned_abs()))
    };
    assert_eq!(told(&*store, vec![at(0), at(1)]).await, [Refused(Refusal::TooLate), Stored(1)]);
}

/// Reports race the freeze: what was answered as stored is all there is, and after the freeze nothing is.
pub(crate) async fn a_freeze_at_once_with_reports_has_one_winner(engine: &mut impl Engine) {
    let store = engine.store();
    let mut writers = JoinSet::new();
    for writer in 0..8u64 {
        let store = Arc::clone(&store);
        writers.spawn(async move {
            let mut stored = 0;
            for nth in 0..40 {
                let reports = (0..5).map(|uid| report(uid * 700, Add(1), Some(writer << 32 | nth))).collect();
                let answers = told(&*store, reports).await;
                stored += answers.iter().filter(|answer| matches!(answer, Stored(_))).count();
                assert!(answers.iter().all(|answer| matches!(answer, Stored(_) | Refused(Refusal::TooLate))));
            }
            stored
        });
    }
    store.freeze(freezes(seventh())).await.unwrap();
    let mut frozen = 0;
    for uid in 0..5 {
        frozen += number(&*store, uid * 700).await;
    }
    let stored: usize = writers.join_all().await.into_iter().sum();
    let mut after = 0;
    for uid in 0..5 {
        after += number(&*store, uid * 700).await;
    }
    assert_eq!(
        (usize::try_from(after).unwrap(), after),
        (stored, frozen),
        "a report was stored after the freeze"
    );
}

pub(crate) async fn who_is_erased_leaves_nothing_and_is_posted_as_gone(engine: &mut impl Engine) {
    let store = engine.store();
    let eighth = days_after(1);
    let reports = vec![
        report(1, Add(5), Some(1)),
        of_source("watch", 1, eighth, Total(9), None),
        report(2, Add(6), Some(1)),
    ];
    told(&*store, reports).await;
    let part = step_store::part(Uid(1));
    let last = store.position(part).await.unwrap().last;
    store.posted(part, last).await.unwrap();
    store.erase(Uid(1)).await.unwrap();
    for day in [seventh(), eighth] {
        assert_eq!(store.entry(Uid(1), day).await.unwrap(), None);
    }
    assert_eq!(number(&*store, 2).await, 6, "the neighbour stays");
    let (first, changes) = posted(&*store, part).await;
    let gone = |day| Changed { uid: Uid(1), day, steps: None };
    assert_eq!((first, changes), (last + 1, vec![gone(seventh()), gone(eighth)]));
    assert_eq!(told(&*store, vec![report(1, Add(5), Some(1))]).await, [Refused(Refusal::Erased)]);
    assert_eq!(told(&*store, vec![report(2, Add(6), Some(1))]).await, [Repeat(6)]);
    assert_eq!(
        store.read_many(&[Uid(1), Uid(2)], seventh()).await.unwrap(),
        [Read::Steps(0), Read::Steps(6)]
    );
    store.erase(Uid(1)).await.unwrap();
}
