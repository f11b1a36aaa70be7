use std::sync::atomic::{AtomicBool, Ordering};

use chrono::TimeDelta;
use domain::Instant;
use step_store::{Refusal, Reported};

use crate::engine::{Engine, add, give, next_day, now, number, total};

pub(crate) async fn a_frozen_day_takes_no_more(engine: &mut impl Engine) {
    let store = engine.store();
    assert_eq!(store.frozen_to().await.unwrap(), None);
    let freezes = total(1, 0).freezes;
    store.freeze(freezes - TimeDelta::milliseconds(1)).await.unwrap();
    assert_eq!(give(&store, vec![total(1, 5)]).await, [Reported::Stored(5)]);
    store.freeze(freezes).await.unwrap();
    assert_eq!(store.frozen_to().await.unwrap(), Some(freezes));
    let late = Reported::Refused(Refusal::TooLate);
    let reports = vec![total(1, 6), next_day(total(1, 7)), add(2, 5, "a"), total(1, 4)];
    assert_eq!(give(&store, reports).await, [late, Reported::Stored(7), late, late]);
    assert_eq!(number(&store, 1).await, 5);
}

pub(crate) async fn the_watermark_only_rises(engine: &mut impl Engine) {
    let store = engine.store();
    for (to, held) in [(5_000, 5_000), (4_000, 5_000), (5_001, 5_001), (-1, 5_001)] {
        let at = |ms| Instant::from_timestamp_millis(ms).unwrap();
        store.freeze(at(to)).await.unwrap();
        assert_eq!(store.frozen_to().await.unwrap(), Some(at(held)));
    }
}

/// Reports without end, from several clients, beside a freeze: when it has answered, the numbers stand still, and they are
/// what was answered as stored.
pub(crate) async fn what_is_stored_beside_a_freeze_came_before_it(engine: &mut impl Engine) {
    static OVER: AtomicBool = AtomicBool::new(false);
    OVER.store(false, Ordering::SeqCst);
    let clients: Vec<_> = (0..4u64)
        .map(|uid| {
            let store = if uid % 2 == 0 { engine.store() } else { engine.other() };
            tokio::spawn(async move {
                let mut last = 0;
                for n in 1..=200_000u32 {
                    // whether it had answered before this one was begun
                    let over = OVER.load(Ordering::SeqCst);
                    match store.report(vec![total(uid, n)], now()).await.unwrap()[..] {
                        [Reported::Stored(stored)] if !over => last = stored,
                        [Reported::Refused(Refusal::TooLate)] => break,
                        ref other => panic!("{other:?} {over}"),
                    }
                }
                last
            })
        })
        .collect();
    let store = engine.store();
    while number(&store, 3).await < 20 {
        tokio::task::yield_now().await;
    }
    store.freeze(total(0, 0).freezes).await.unwrap();
    OVER.store(true, Ordering::SeqCst);
    let frozen = crate::engine::numbers(&store, &[0, 1, 2, 3], crate::engine::today()).await;
    for (client, number) in clients.into_iter().zip(&frozen) {
        assert_eq!(client.await.unwrap(), *number);
    }
    assert_eq!(crate::engine::numbers(&store, &[0, 1, 2, 3], crate::engine::today()).await, frozen);
}
