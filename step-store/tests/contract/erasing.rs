use domain::Uid;
use step_store::{Changed, Refusal, Reported};

use crate::engine::{Engine, add, day, give, next_day, now, number, numbers, today, total};

pub(crate) async fn a_user_who_is_erased_is_gone(engine: &mut impl Engine) {
    let store = engine.store();
    let reports = vec![add(1, 5, "a"), next_day(add(1, 6, "b")), add(2, 7, "a"), next_day(total(2, 8))];
    give(&store, reports).await;
    store.freeze(total(1, 0).freezes).await.unwrap();
    let before = store.outbox(0).await.unwrap().last;
    // twice gives the same
    for _ in 0..2 {
        store.erase(Uid(1)).await.unwrap();
        for (day, kept) in [(today(), 7), (day("20260608"), 8)] {
            assert_eq!(store.entry(Uid(1), day).await.unwrap(), None);
            assert_eq!(numbers(&store, &[1, 2], day).await, [0, kept]);
        }
    }
    let outbox = store.outbox(0).await.unwrap();
    assert_eq!(outbox.last, before + 1);
    let gone = |day| Changed { uid: Uid(1), day, steps: None };
    assert_eq!(outbox.postings.last().unwrap().decode().unwrap(), [gone(today()), gone(day("20260608"))]);
    store.erase(Uid(99)).await.unwrap();
}

pub(crate) async fn reports_after_an_erasure_are_refused(engine: &mut impl Engine) {
    let clients: Vec<_> = (0..8)
        .map(|n| {
            let store = if n % 2 == 0 { engine.store() } else { engine.other() };
            tokio::spawn(async move {
                for id in 0..100_000 {
                    let answers =
                        store.report(vec![add(1, 1, &format!("{n}-{id}")), total(2, 5)], now()).await;
                    match answers.unwrap()[0] {
                        Reported::Stored(_) => (),
                        Reported::Refused(Refusal::Erased) => return,
                        ref other => panic!("{other:?}"),
                    }
                }
            })
        })
        .collect();
    let store = engine.store();
    while number(&store, 1).await < 20 {
        tokio::task::yield_now().await;
    }
    store.erase(Uid(1)).await.unwrap();
    assert_eq!(numbers(&store, &[1, 2], today()).await, [0, 5]);
    for client in clients {
        client.await.unwrap();
    }
    assert_eq!(store.entry(Uid(1), today()).await.unwrap(), None);
    assert_eq!(give(&store, vec![add(1, 1, "0-0"), total(2, 6)]).await[1], Reported::Stored(6));
}
