use domain::Uid;
use step_store::{Read, Refusal, Reported};

use crate::engine::{Engine, add, day, give, next_day, numbers, today, total};

pub(crate) async fn a_damaged_page_refuses_its_own_users_alone(engine: &mut impl Engine) {
    let store = engine.store();
    give(&store, vec![total(1, 5), total(40, 6), next_day(total(1, 7)), total(2_049, 8)]).await;
    engine.damage(Uid(1), today()).await;
    let read = store.read_many(&[Uid(1), Uid(40), Uid(2), Uid(2_049)], today()).await.unwrap();
    assert_eq!(read, [Read::Unreadable, Read::Steps(6), Read::Unreadable, Read::Steps(8)]);
    assert!(store.entry(Uid(1), today()).await.is_err());
    let unreadable = Reported::Refused(Refusal::Unreadable);
    let reports = vec![add(1, 1, "a"), total(40, 9), next_day(total(1, 10)), total(2, 1), total(2_049, 11)];
    let wanted = [unreadable, Reported::Stored(9), Reported::Stored(10), unreadable, Reported::Stored(11)];
    assert_eq!(give(&store, reports).await, wanted);
    // its users are in no totals, those of the others are
    let mut totals = store.totals(0, today(), None).await.unwrap();
    totals.totals.sort_unstable();
    assert_eq!((totals.totals, totals.next), (vec![(Uid(2_049), 11)], None));
    // an erasure takes what it can read, and says that there is more
    assert!(store.erase(Uid(1)).await.is_err());
    assert_eq!(numbers(&store, &[1], day("20260608")).await, [0]);
}
