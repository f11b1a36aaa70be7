use std::sync::Arc;

use step_store::{Amount::Add, Reported::Stored};
use tokio::task::JoinSet;

use crate::engine::{Engine, number, report, told};

/// Writers that all touch the same few pages.
pub(crate) async fn calls_at_once_lose_nothing(engine: &mut impl Engine) {
    let store = engine.store();
    let mut writers = JoinSet::new();
    for writer in 0..16u64 {
        let store = Arc::clone(&store);
        writers.spawn(async move {
            for nth in 0..10 {
                let reports = (0..50).map(|uid| report(uid * 3, Add(1), Some(writer << 32 | nth))).collect();
                assert!(told(&*store, reports).await.iter().all(|answer| matches!(answer, Stored(_))));
            }
        });
    }
    writers.join_all().await;
    for uid in 0..50 {
        assert_eq!(number(&*store, uid * 3).await, 160, "{uid}");
    }
}
