use crate::engine::{Engine, add, give, number, total};

pub(crate) async fn what_was_answered_is_there_after_a_restart(engine: &mut impl Engine) {
    let freezes = total(1, 0).freezes;
    for round in 1..=3u32 {
        let store = engine.store();
        assert_eq!(number(&store, 5).await, (round - 1) * 40_000);
        give(&store, vec![add(5, 40_000, &round.to_string()), add(5, 40_000, "1")]).await;
        drop(store);
        engine.restart().await;
    }
    let store = engine.store();
    store.freeze(freezes).await.unwrap();
    let last = store.position(0).await.unwrap().last;
    drop(store);
    engine.restart().await;
    let store = engine.store();
    assert_eq!((store.frozen_to().await.unwrap(), number(&store, 5).await), (Some(freezes), 120_000));
    let outbox = store.outbox(0).await.unwrap();
    assert_eq!((outbox.last, outbox.postings.len() as u64, last), (3, 3, 3));
}
