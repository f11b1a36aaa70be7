//! What is refused.

use directory::{Applied, Change, NewUser, StoreError};
use domain::Uid;

use crate::engine::{Engine, new, noon, put};

pub(crate) async fn a_user_past_a_limit_is_refused_and_the_rest_go_on(engine: &dyn Engine) {
    let directory = engine.directory();
    let long = Change::Put(NewUser { name: Some("x".repeat(201)), ..new(1, "Asia/Tokyo", &[]) });
    let applied = directory.apply(vec![long, put(2, "Asia/Tokyo", &[])], noon()).await.unwrap();
    assert!(matches!(&applied[0], Applied::Refused(refusal) if refusal.field == "name"));
    assert_eq!(applied[1], Applied::Created);
}

pub(crate) async fn a_call_past_a_limit_is_refused_whole(engine: &dyn Engine) {
    let directory = engine.directory();
    directory.apply(vec![put(2, "Asia/Tokyo", &[])], noon()).await.unwrap();
    let end = directory.apply(vec![Change::Delete(Uid(2)); 10_001], noon()).await;
    assert!(matches!(end, Err(StoreError::Full { limit: 10_000, .. })), "{end:?}");
    assert!(directory.users(&[Uid(2)]).await.unwrap()[0].is_some());
    assert!(matches!(directory.pages(0, &[0; 1_025]).await, Err(StoreError::Full { limit: 1_024, .. })));
    for (part, page) in [(64, 64), (1, 0), (0, 1 << 16)] {
        assert!(
            matches!(directory.pages(part, &[page]).await, Err(StoreError::Corrupt { .. })),
            "{part} {page}"
        );
    }
}
