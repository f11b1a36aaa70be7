use domain::Uid;
use step_store::{
    Amount::Add,
    Read, Refusal,
    Reported::{Refused, Repeat, Stored},
};

use crate::engine::{Engine, days_after, number, of_source, report, seventh, told};

pub(crate) async fn what_was_answered_is_there_after_a_restart(engine: &mut impl Engine) {
    let reports: Vec<_> = (0..500).map(|uid| report(uid * 7, Add(3), Some(uid))).collect();
    told(&*engine.store(), reports.clone()).await;
    engine.restart().await;
    let store = engine.store();
    assert_eq!(number(&*store, 7 * 499).await, 3);
    assert!(told(&*store, reports).await.iter().all(|answer| *answer == Repeat(3)));
}

pub(crate) async fn a_page_that_cannot_be_read_concerns_its_users_alone(engine: &mut impl Engine) {
    let store = engine.store();
    told(&*store, vec![report(1, Add(5), Some(1)), report(100, Add(6), Some(1))]).await;
    engine.plant_page(Uid(1), seventh(), b"\x09nonsense").await;
    let read = store.read_many(&[Uid(100), Uid(1), Uid(2)], seventh()).await.unwrap();
    assert_eq!(read, [Read::Steps(6), Read::Unreadable, Read::Unreadable]);
    assert!(store.entry(Uid(1), seventh()).await.is_err());
    let reports = vec![
        report(100, Add(1), Some(2)),
        report(2, Add(1), Some(2)),
        of_source("phone", 2, days_after(1), Add(1), Some(3)),
    ];
    assert_eq!(told(&*store, reports).await, [Stored(7), Refused(Refusal::Unreadable), Stored(1)]);
    let piece = store.totals(step_store::part(Uid(1)), seventh(), None).await.unwrap();
    assert!(piece.totals.iter().all(|(uid, _)| uid.0 >= 32));
}
