use domain::Uid;

use crate::engine::{Engine, add, day};

pub(crate) async fn what_was_answered_is_there_after_a_restart(engine: &mut impl Engine) {
    for round in 1..=3u32 {
        let store = engine.store();
        let before = store.read(Uid(5), day("20260607")).await.unwrap();
        assert_eq!(before, (round - 1) * 40_000);
        store.add(vec![add(5, 40_000)]).await.unwrap();
        drop(store);
        engine.restart().await;
    }
}
