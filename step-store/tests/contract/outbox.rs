use std::collections::BTreeMap;

use domain::Uid;
use step_store::{
    Amount::{Add, Total},
    Changed, PARTS,
};

use crate::engine::{Engine, days_after, of_source, posted, report, seventh, told};

pub(crate) async fn each_change_of_a_number_is_posted_once(engine: &mut impl Engine) {
    let store = engine.store();
    let part = step_store::part(Uid(1));
    assert_eq!(posted(&*store, part).await, (1, Vec::new()));
    told(&*store, vec![report(1, Add(5), Some(1)), report(1, Add(6), Some(2)), report(3, Total(4), None)])
        .await;
    // none of these changes a number
    told(&*store, vec![report(1, Add(6), Some(2)), of_source("watch", 1, seventh(), Total(10), None)]).await;
    told(&*store, vec![of_source("phone", 1, days_after(1), Add(0), Some(4))]).await;
    told(&*store, vec![of_source("watch", 1, seventh(), Total(12), None)]).await;
    let of = |uid, steps| Changed { uid: Uid(uid), day: seventh(), steps: Some(steps) };
    assert_eq!(posted(&*store, part).await, (1, vec![of(1, 11), of(3, 4), of(1, 12)]));
    assert_eq!(store.position(part).await.unwrap().last, 2);
}

pub(crate) async fn what_is_posted_goes_and_numbers_go_on(engine: &mut impl Engine) {
    let store = engine.store();
    let part = step_store::part(Uid(1));
    for steps in 1..=4 {
        told(&*store, vec![report(1, Total(steps), None)]).await;
    }
    store.posted(part, 3).await.unwrap();
    let outbox = store.outbox(part).await.unwrap();
    assert_eq!((outbox.first, outbox.postings.len(), outbox.posted, outbox.last), (4, 1, 3, 4));
    // said again, or of those before, it changes nothing
    store.posted(part, 2).await.unwrap();
    assert_eq!(store.outbox(part).await.unwrap(), outbox);
    store.posted(part, 4).await.unwrap();
    told(&*store, vec![report(1, Total(9), None)]).await;
    let outbox = store.outbox(part).await.unwrap();
    assert_eq!((outbox.first, outbox.postings.len(), outbox.posted, outbox.last), (5, 1, 4, 5));
    assert!(store.posted(part, 6).await.is_err(), "there is none of this number");
    assert!(store.outbox(PARTS).await.is_err());
    let (before, after) = (store.position(part).await.unwrap(), store.position(part).await.unwrap());
    assert_eq!((before, before.last), (after, 5));
}

pub(crate) async fn the_outbox_is_bounded_and_shows_the_gap(engine: &mut impl Engine) {
    let store = engine.store();
    // 1,024 users of part 0, in 32 pages: one posting has 2 to 4 bytes a user
    let users: Vec<_> = (0..32 * 64 * 32u64).filter(|uid| step_store::part(Uid(*uid)) == 0).collect();
    assert_eq!(users.len(), 1_024);
    let mut calls = 0;
    let outbox = loop {
        calls += 1;
        told(&*store, users.iter().map(|uid| report(*uid, Total(calls), None)).collect()).await;
        if calls % 50 == 0 {
            let outbox = store.outbox(0).await.unwrap();
            if outbox.first > 1 || calls > 2_000 {
                break outbox;
            }
        }
    };
    let bytes: usize = outbox.postings.iter().map(|posting| posting.bytes().len()).sum();
    assert!((900_000..=1 << 20).contains(&bytes), "{bytes} bytes in {} postings", outbox.postings.len());
    assert!(outbox.posted == 0 && outbox.first > 1 && outbox.last == u64::from(calls));
    assert_eq!(outbox.first + outbox.postings.len() as u64, outbox.last + 1);
}

pub(crate) async fn totals_are_the_entries_of_a_part(engine: &mut impl Engine) {
    let store = engine.store();
    let uids: Vec<_> =
        (0..3_000u64).chain((0..2_000).map(|n| u64::wrapping_mul(n, 0x9e37_79b9_7f4a_7c15))).collect();
    for uids in uids.chunks(1_000) {
        let reports = uids.iter().map(|uid| report(*uid, Total(u32::try_from(uid % 50_000).unwrap()), None));
        told(&*store, reports.collect()).await;
    }
    told(&*store, vec![of_source("phone", 1, days_after(1), Total(1), None)]).await;
    let mut all = BTreeMap::new();
    for part in 0..PARTS {
        let mut from = None;
        loop {
            let piece = store.totals(part, seventh(), from).await.unwrap();
            all.extend(piece.totals);
            match piece.next {
                Some(next) => from = Some(next),
                None => break,
            }
        }
        let days = store.days(part).await.unwrap();
        let wanted =
            if part == step_store::part(Uid(1)) { vec![seventh(), days_after(1)] } else { vec![seventh()] };
        assert_eq!(days, wanted);
    }
    let wanted: BTreeMap<_, _> =
        uids.iter().map(|uid| (Uid(*uid), u32::try_from(uid % 50_000).unwrap())).collect();
    assert_eq!(all, wanted);
}
