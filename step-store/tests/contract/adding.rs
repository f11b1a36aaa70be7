use domain::Uid;
use step_store::{Add, Added, StoreError};

use crate::engine::{Engine, add, day};

pub(crate) async fn absent_reads_0_and_midnight_is_another_key(engine: &mut impl Engine) {
    let store = engine.store();
    assert_eq!(store.read(Uid(1), day("20260607")).await.unwrap(), 0);
    assert_eq!(store.read_many(&[Uid(1), Uid(2)], day("20260607")).await.unwrap(), [0, 0]);
    store.add(vec![add(1, 8_000)]).await.unwrap();
    assert_eq!(store.read(Uid(1), day("20260607")).await.unwrap(), 8_000);
    assert_eq!(store.read(Uid(1), day("20260608")).await.unwrap(), 0);
    assert_eq!(store.read(Uid(1), day("20260606")).await.unwrap(), 0);
}

pub(crate) async fn wide_numbers_come_back_exact_and_absurd_ones_are_refused_whole(engine: &mut impl Engine) {
    let store = engine.store();
    let steps = [65_535, 65_536, 79_396, 200_000, 200_001, 536_876_864, u32::MAX];
    let adds = (0..).zip(steps).map(|(uid, steps)| add(uid, steps)).collect();
    let expected = [
        Added::Stored(65_535),
        Added::Stored(65_536),
        Added::Stored(79_396),
        Added::Stored(200_000),
        Added::TooMany,
        Added::TooMany,
        Added::TooMany,
    ];
    assert_eq!(store.add(adds).await.unwrap(), expected);
    let uids: Vec<_> = (0..7).map(Uid).collect();
    let read = store.read_many(&uids, day("20260607")).await.unwrap();
    assert_eq!(read, [65_535, 65_536, 79_396, 200_000, 0, 0, 0]);
    // full to the brim: one more step is refused, and so is a sum past 32 bits
    assert_eq!(
        store.add(vec![add(3, 1), add(3, u32::MAX), add(3, 0)]).await.unwrap(),
        [Added::TooMany, Added::TooMany, Added::Stored(200_000)]
    );
}

pub(crate) async fn one_call_adds_in_order_and_answers_in_order(engine: &mut impl Engine) {
    let store = engine.store();
    let adds = vec![add(9, 150_000), add(5_000, 3), add(9, 60_000), add(9, 50_000), add(u64::MAX, 7)];
    let expected =
        [Added::Stored(150_000), Added::Stored(3), Added::TooMany, Added::Stored(200_000), Added::Stored(7)];
    assert_eq!(store.add(adds).await.unwrap(), expected);
    let unsorted = [Uid(u64::MAX), Uid(1), Uid(9), Uid(u64::MAX)];
    assert_eq!(store.read_many(&unsorted, day("20260607")).await.unwrap(), [7, 0, 200_000, 7]);
}

pub(crate) async fn a_call_that_is_too_long_stores_nothing(engine: &mut impl Engine) {
    let store = engine.store();
    let end = store.add(vec![add(1, 1); 10_001]).await;
    assert!(matches!(end, Err(StoreError::Full { limit: 10_000, .. })), "{end:?}");
    assert_eq!(store.read(Uid(1), day("20260607")).await.unwrap(), 0);
    assert_eq!(store.add(vec![add(1, 1); 10_000]).await.unwrap().len(), 10_000);
    assert_eq!(store.read(Uid(1), day("20260607")).await.unwrap(), 10_000);
}

pub(crate) async fn calls_at_once_lose_nothing(engine: &mut impl Engine) {
    let store = engine.store();
    let calls = (0..32).map(|_| {
        let store = engine.store();
        tokio::spawn(async move { store.add((0..50).map(|uid| add(uid * 100, 3)).collect()).await })
    });
    let calls: Vec<_> = calls.collect();
    for call in calls {
        assert!(call.await.unwrap().unwrap().iter().all(|added| matches!(added, Added::Stored(_))));
    }
    let uids: Vec<_> = (0..50).map(|uid| Uid(uid * 100)).collect();
    assert_eq!(store.read_many(&uids, day("20260607")).await.unwrap(), vec![96; 50]);
}

pub(crate) async fn many_users_are_read_in_their_order(engine: &mut impl Engine) {
    let store = engine.store();
    let steps = |uid: u64| u32::try_from(uid % 9_973).unwrap();
    // every second one has an entry, over all parts and beyond the bound of one command
    let adds: Vec<Add> = (0..8_000).map(|n| add(n * 14, steps(n * 14))).collect();
    store.add(adds).await.unwrap();
    let uids: Vec<_> = (0..16_000).rev().map(|n| Uid(n * 7)).collect();
    let wanted: Vec<_> = uids.iter().map(|uid| if uid.0 % 14 == 0 { steps(uid.0) } else { 0 }).collect();
    assert_eq!(store.read_many(&uids, day("20260607")).await.unwrap(), wanted);
}

pub(crate) async fn nothing_asked_is_nothing_answered(engine: &mut impl Engine) {
    let store = engine.store();
    assert_eq!(store.add(Vec::new()).await.unwrap(), []);
    assert_eq!(store.read_many(&[], day("20260607")).await.unwrap(), Vec::<u32>::new());
}
