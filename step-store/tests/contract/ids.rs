use std::sync::Arc;

use domain::Uid;
use step_store::{
    Amount::{Add, Total},
    MOST_STEPS, Read, Refusal,
    Reported::{Refused, Repeat, Stored},
};
use tokio::task::JoinSet;

use crate::engine::{Engine, days_after, noon, number, of_source, report, seventh, told};

/// C14 of the cases of trouble: a batch that comes again, with one new item.
pub(crate) async fn a_report_that_comes_again_is_a_repeat(engine: &mut impl Engine) {
    let store = engine.store();
    let one = report(1, Add(500), Some(1));
    assert_eq!(told(&*store, vec![one.clone()]).await, [Stored(500)]);
    let again = vec![one.clone(), report(1, Add(20), Some(2)), one.clone(), report(2, Add(500), Some(1))];
    assert_eq!(told(&*store, again).await, [Repeat(500), Stored(520), Repeat(520), Stored(500)]);
    // two at once: one stores, the other is told that it is held
    let mut both = JoinSet::new();
    for _ in 0..8 {
        let (store, one) = (Arc::clone(&store), report(3, Add(7), Some(9)));
        both.spawn(async move { told(&*store, vec![one]).await[0] });
    }
    let mut answers = both.join_all().await;
    answers.sort_unstable_by_key(|answer| matches!(answer, Repeat(_)));
    assert_eq!(answers, [[Stored(7)].as_slice(), &[Repeat(7); 7]].concat());
}

pub(crate) async fn an_id_is_known_whatever_day_it_names(engine: &mut impl Engine) {
    let store = engine.store();
    // by the days on which sets of ids begin: each in turn is the first
    for first in 0..4 {
        let (uid, day) = (u64::try_from(first).unwrap(), days_after(first));
        let one = |day| of_source("phone", uid, day, Add(5), Some(1));
        assert_eq!(told(&*store, vec![one(day)]).await, [Stored(5)]);
        for off in -1..=3 {
            assert_eq!(told(&*store, vec![one(days_after(first + off))]).await.len(), 1);
            let held = store.entry(Uid(uid), days_after(first + off)).await.unwrap();
            assert_eq!(held.is_some(), off == 0, "{first} {off}");
        }
    }
}

pub(crate) async fn a_known_id_is_a_repeat_before_any_refusal(engine: &mut impl Engine) {
    let store = engine.store();
    let full = vec![report(1, Add(MOST_STEPS), Some(1))];
    assert_eq!(told(&*store, full.clone()).await, [Stored(MOST_STEPS)]);
    assert_eq!(told(&*store, full.clone()).await, [Repeat(MOST_STEPS)], "it would pass the most");
    let total = of_source("phone", 1, seventh(), Total(5), Some(1));
    assert_eq!(told(&*store, vec![total]).await, [Repeat(MOST_STEPS)], "its kind is another");
    store.freeze(full[0].freezes).await.unwrap();
    assert_eq!(told(&*store, full).await, [Repeat(MOST_STEPS)], "the day is frozen");
    assert_eq!(told(&*store, vec![report(1, Add(1), Some(2))]).await, [Refused(Refusal::TooLate)]);
}

pub(crate) async fn one_id_at_once_under_two_days_is_stored_once(engine: &mut impl Engine) {
    let store = engine.store();
    for round in 0..12 {
        let mut both = JoinSet::new();
        for off in [0, 1] {
            let store = Arc::clone(&store);
            both.spawn(async move {
                let report = of_source("phone", round * 100, days_after(off), Add(5), Some(round));
                told(&*store, vec![report]).await[0]
            });
        }
        let stored = both.join_all().await.into_iter().filter(|answer| *answer == Stored(5)).count();
        let mut sum = 0;
        for off in [0, 1] {
            match store.read_many(&[Uid(round * 100)], days_after(off)).await.unwrap()[0] {
                Read::Steps(steps) => sum += steps,
                Read::Unreadable => panic!("unreadable"),
            }
        }
        assert_eq!((stored, sum), (1, 5));
    }
}

pub(crate) async fn sets_of_ids_are_bounded(engine: &mut impl Engine) {
    let store = engine.store();
    for first in [0u64, 8_000, 16_000] {
        let reports = (first..(first + 8_000).min(16_384)).map(|id| report(1, Add(1), Some(id)));
        assert!(told(&*store, reports.collect()).await.iter().all(|answer| matches!(answer, Stored(_))));
    }
    let more =
        vec![report(1, Add(1), Some(99_999)), report(1, Add(1), Some(5)), report(2, Add(1), Some(99_999))];
    assert_eq!(told(&*store, more).await, [Refused(Refusal::TooManyReports), Repeat(16_384), Stored(1)]);
    assert_eq!(number(&*store, 1).await, 16_384);
    let other = of_source("phone", 1, days_after(8), Add(1), Some(99_999));
    assert_eq!(store.report(vec![other], noon()).await.unwrap(), [Stored(1)], "another epoch has room");
}
