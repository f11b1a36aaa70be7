use domain::Uid;
use step_store::{Refusal, Report, Reported};

use crate::engine::{Engine, add, day, give, named, next_day, now, number, of_source, total};

pub(crate) async fn a_known_id_is_a_repeat_whatever_it_says(engine: &mut impl Engine) {
    let store = engine.store();
    assert_eq!(give(&store, vec![add(1, 500, "a")]).await, [Reported::Stored(500)]);
    let as_total = named(total(1, 9_000), "a");
    let next = next_day(add(1, 500, "a"));
    let much = add(1, 200_000, "a");
    let wanted = [Reported::Repeat(500), Reported::Repeat(500), Reported::Repeat(0), Reported::Repeat(500)];
    assert_eq!(give(&store, vec![add(1, 500, "a"), as_total, next.clone(), much]).await, wanted);
    store.freeze(next.freezes).await.unwrap();
    let before = Report { day: day("20260530"), ..add(1, 500, "a") };
    assert_eq!(give(&store, vec![add(1, 500, "a")]).await, [Reported::Repeat(500)]);
    assert_eq!(give(&store, vec![before]).await, [Reported::Refused(Refusal::TooLate)]);
}

pub(crate) async fn an_id_is_its_users_and_its_sources_own(engine: &mut impl Engine) {
    let store = engine.store();
    let watch = named(of_source(add(1, 70, "x"), "watch"), "a");
    let reports = vec![add(1, 50, "a"), add(2, 60, "a"), watch, add(1, 5, "b")];
    assert_eq!(give(&store, reports).await, [50, 60, 70, 70].map(Reported::Stored));
}

pub(crate) async fn what_is_refused_leaves_its_id_free(engine: &mut impl Engine) {
    let store = engine.store();
    assert_eq!(give(&store, vec![add(1, 200_001, "a")]).await, [Reported::Refused(Refusal::TooMany)]);
    assert_eq!(give(&store, vec![add(1, 10, "a")]).await, [Reported::Stored(10)]);
}

pub(crate) async fn a_total_that_does_not_rise_is_a_repeat(engine: &mut impl Engine) {
    let store = engine.store();
    let reports = vec![total(1, 0), total(1, 0), total(1, 9), total(1, 9), total(1, 8), total(1, 10)];
    let wanted = [
        Reported::Stored(0),
        Reported::Repeat(0),
        Reported::Stored(9),
        Reported::Repeat(9),
        Reported::Repeat(9),
        Reported::Stored(10),
    ];
    assert_eq!(give(&store, reports).await, wanted);
    assert!(store.entry(Uid(1), crate::engine::today()).await.unwrap().is_some());
}

pub(crate) async fn one_id_under_two_days_at_once_is_stored_once(engine: &mut impl Engine) {
    let calls: Vec<_> = (0..400u64)
        .map(|n| {
            let store = if n % 2 == 0 { engine.store() } else { engine.other() };
            let one = add(n / 20, 10, "same");
            let one = if n % 3 == 0 { next_day(one) } else { one };
            tokio::spawn(async move { store.report(vec![one], now()).await.unwrap() })
        })
        .collect();
    let mut stored = 0;
    for call in calls {
        stored += usize::from(matches!(call.await.unwrap()[..], [Reported::Stored(_)]));
    }
    assert_eq!(stored, 20);
    let (store, uids) = (engine.store(), (0..20).collect::<Vec<_>>());
    let mut sum = 0;
    for day in ["20260607", "20260608"] {
        sum += crate::engine::numbers(&store, &uids, crate::engine::day(day)).await.iter().sum::<u32>();
    }
    assert_eq!(sum, 200);
}

pub(crate) async fn a_user_has_16384_ids_in_four_days(engine: &mut impl Engine) {
    let store = engine.store();
    let of = |n: u32| add(1, 1, &n.to_string());
    for first in [0, 8_000] {
        let answers = give(&store, (first..first + 8_000).map(of).collect()).await;
        assert!(answers.iter().all(|answer| matches!(answer, Reported::Stored(_))));
    }
    let answers = give(&store, (16_000..17_000).map(of).collect()).await;
    let stored = answers.iter().take_while(|answer| matches!(answer, Reported::Stored(_))).count();
    assert_eq!(stored, 384);
    assert!(answers[384..].iter().all(|answer| *answer == Reported::Refused(Refusal::TooManyReports)));
    assert_eq!(number(&store, 1).await, 16_384);
    // without an id it goes on, and so does the next epoch
    assert_eq!(give(&store, vec![of_source(total(1, 20_000), "watch")]).await, [Reported::Stored(20_000)]);
    let later = Report { day: day("20260612"), ..of(17_000) };
    assert_eq!(give(&store, vec![later, of(5)]).await, [Reported::Stored(1), Reported::Repeat(20_000)]);
}
