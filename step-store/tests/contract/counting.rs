use domain::Uid;
use step_store::{Read, Refusal, Report, Reported, StoreError};

use crate::engine::{Engine, add, day, give, now, number, numbers, report, today, total};

pub(crate) async fn absent_reads_0_and_midnight_is_another_key(engine: &mut impl Engine) {
    let store = engine.store();
    assert_eq!(store.read_many(&[Uid(1), Uid(2)], today()).await.unwrap(), [Read::Steps(0); 2]);
    assert_eq!(store.entry(Uid(1), today()).await.unwrap(), None);
    give(&store, vec![total(1, 8_000)]).await;
    assert_eq!(number(&store, 1).await, 8_000);
    assert_eq!(store.entry(Uid(2), today()).await.unwrap(), None);
    assert_eq!(numbers(&store, &[1], day("20260608")).await, [0]);
    assert_eq!(numbers(&store, &[1], day("20260606")).await, [0]);
}

pub(crate) async fn wide_numbers_come_back_exact_and_absurd_ones_are_refused_whole(engine: &mut impl Engine) {
    let store = engine.store();
    let steps = [65_535, 65_536, 79_396, 200_000, 200_001, 536_876_864, u32::MAX];
    let wanted: Vec<_> =
        steps
            .iter()
            .map(|steps| {
                if *steps > 200_000 { Reported::Refused(Refusal::TooMany) } else { Reported::Stored(*steps) }
            })
            .collect();
    for first in [0, 1_000] {
        let of = |uid, steps| if first == 0 { total(uid, steps) } else { add(uid, steps, "x") };
        let reports = (first..).zip(steps).map(|(uid, steps)| of(uid, steps)).collect();
        assert_eq!(give(&store, reports).await, wanted);
        let uids: Vec<_> = (first..first + 7).collect();
        assert_eq!(numbers(&store, &uids, today()).await, [65_535, 65_536, 79_396, 200_000, 0, 0, 0]);
    }
    // full to the brim: one more step is refused, and so is a sum past 32 bits
    let reports = vec![add(1_003, 1, "a"), add(1_003, u32::MAX, "b"), add(1_003, 0, "c")];
    let too_many = Reported::Refused(Refusal::TooMany);
    assert_eq!(give(&store, reports).await, [too_many, too_many, Reported::Stored(200_000)]);
}

pub(crate) async fn one_call_is_taken_and_answered_in_order(engine: &mut impl Engine) {
    let store = engine.store();
    let reports = vec![
        add(9, 150_000, "a"),
        total(5_000, 3),
        add(9, 60_000, "b"),
        add(9, 50_000, "c"),
        total(u64::MAX, 7),
        add(9, 50_000, "c"),
        total(5_000, 4),
    ];
    let wanted = [
        Reported::Stored(150_000),
        Reported::Stored(3),
        Reported::Refused(Refusal::TooMany),
        Reported::Stored(200_000),
        Reported::Stored(7),
        Reported::Repeat(200_000),
        Reported::Stored(4),
    ];
    assert_eq!(give(&store, reports).await, wanted);
    let unsorted = [u64::MAX, 1, 9, u64::MAX, 8];
    assert_eq!(numbers(&store, &unsorted, today()).await, [7, 0, 200_000, 7, 0]);
}

pub(crate) async fn a_call_that_is_too_long_stores_nothing(engine: &mut impl Engine) {
    let store = engine.store();
    let one = report(1, step_store::Amount::Add(1));
    let end = store.report(vec![one.clone(); 10_001], now()).await;
    assert!(matches!(end, Err(StoreError::Full { limit: 10_000, .. })), "{end:?}");
    assert_eq!(number(&store, 1).await, 0);
    assert_eq!(give(&store, vec![one; 10_000]).await.len(), 10_000);
    assert_eq!(number(&store, 1).await, 10_000);
}

pub(crate) async fn many_users_are_read_in_their_order(engine: &mut impl Engine) {
    let store = engine.store();
    let steps = |uid: u64| u32::try_from(uid % 9_973).unwrap();
    // every second one has an entry, over all parts and beyond the bound of one command
    let reports: Vec<Report> = (0..8_000).map(|n| total(n * 14, steps(n * 14))).collect();
    give(&store, reports).await;
    let uids: Vec<_> = (0..16_000).rev().map(|n| n * 7).collect();
    let wanted: Vec<_> = uids.iter().map(|uid| if uid % 14 == 0 { steps(*uid) } else { 0 }).collect();
    assert_eq!(numbers(&store, &uids, today()).await, wanted);
}

pub(crate) async fn nothing_asked_is_nothing_answered(engine: &mut impl Engine) {
    let store = engine.store();
    assert_eq!(give(&store, Vec::new()).await, []);
    assert_eq!(store.read_many(&[], today()).await.unwrap(), []);
}
