use std::collections::{BTreeMap, BTreeSet};

use domain::{Day, Uid};
use step_store::{Changed, PARTS, Posting, Read, part};

use crate::engine::{Engine, add, day, give, next_day, now, of_source, parts, today, total};

fn changed(uid: u64, steps: u32) -> Changed {
    Changed { uid: Uid(uid), day: today(), steps: Some(steps) }
}

fn decoded(postings: &[Posting]) -> Vec<Changed> {
    postings.iter().flat_map(|posting| posting.decode().unwrap()).collect()
}

pub(crate) async fn each_change_of_a_number_is_posted_once(engine: &mut impl Engine) {
    let store = engine.store();
    let empty = store.outbox(0).await.unwrap();
    assert_eq!((empty.first, empty.postings.len(), empty.posted, empty.last), (1, 0, 0, 0));
    give(&store, vec![total(1, 5), total(1, 6), total(2, 0), total(40, 9)]).await;
    give(&store, vec![total(1, 6), of_source(total(1, 3), "watch"), add(2, 0, "a")]).await;
    give(&store, vec![of_source(total(1, 8), "watch"), total(2_049, 4)]).await;
    let outbox = store.outbox(0).await.unwrap();
    assert_eq!((outbox.first, outbox.posted, outbox.last), (1, 0, 2));
    assert_eq!(decoded(&outbox.postings), [changed(1, 6), changed(1, 8), changed(2_049, 4)]);
    assert_eq!(decoded(&store.outbox(1).await.unwrap().postings), [changed(40, 9)]);
    let position = store.position(0).await.unwrap();
    assert_eq!((position.last, store.position(0).await.unwrap()), (2, position));
    assert_eq!(store.position(2).await.unwrap().last, 0);
}

pub(crate) async fn what_was_posted_is_forgotten(engine: &mut impl Engine) {
    let store = engine.store();
    for steps in 1..=5 {
        give(&store, vec![total(1, steps)]).await;
    }
    store.posted(0, 2).await.unwrap();
    let outbox = store.outbox(0).await.unwrap();
    assert_eq!((outbox.first, outbox.posted, outbox.last), (3, 2, 5));
    assert_eq!(decoded(&outbox.postings), [changed(1, 3), changed(1, 4), changed(1, 5)]);
    // an older word and one that is ahead change nothing for what is to come
    store.posted(0, 1).await.unwrap();
    store.posted(0, 99).await.unwrap();
    store.posted(7, 3).await.unwrap();
    let outbox = store.outbox(0).await.unwrap();
    assert_eq!((outbox.first, outbox.postings.len(), outbox.posted, outbox.last), (6, 0, 5, 5));
    give(&store, vec![total(1, 6)]).await;
    let outbox = store.outbox(0).await.unwrap();
    assert_eq!((outbox.first, outbox.postings.len(), outbox.posted, outbox.last), (6, 1, 5, 6));
}

/// More than a MiB into one part.
pub(crate) async fn a_full_outbox_drops_its_oldest(engine: &mut impl Engine) {
    let store = engine.store();
    let mut calls = 0;
    for steps in 1..=40u32 {
        // all of part 0, over 313 pages
        let reports = (0..10_000u64).map(|n| total(n / 32 * 2_048 + n % 32, 100_000 + steps)).collect();
        give(&store, reports).await;
        calls += 1;
    }
    let outbox = store.outbox(0).await.unwrap();
    assert!(outbox.first > 1 && outbox.last >= calls && outbox.posted == 0, "{}", outbox.first);
    // what is left is whole, at most a MiB, and comes in pieces
    let (mut kept, mut next, mut last) = (0, outbox.first, BTreeMap::new());
    loop {
        let outbox = store.outbox(0).await.unwrap();
        if outbox.postings.is_empty() {
            break;
        }
        assert_eq!(outbox.first, next);
        let bytes = outbox.postings.iter().map(|posting| posting.bytes().len()).sum::<usize>();
        assert!(bytes <= 256 << 10, "{bytes}");
        kept += bytes;
        last.extend(decoded(&outbox.postings).into_iter().map(|one| (one.uid, one.steps)));
        next += outbox.postings.len() as u64;
        store.posted(0, next - 1).await.unwrap();
    }
    assert!((512 << 10..=1 << 20).contains(&kept), "{kept}");
    assert!(last.len() == 10_000 && last.values().all(|steps| *steps == Some(100_040)));
}

/// Everything from the outbox, in order, is what the store has.
pub(crate) async fn the_postings_make_up_the_totals(engine: &mut impl Engine) {
    let store = engine.store();
    for round in 0..6u64 {
        let of = |n: u64| {
            let one = total(n * (round + 1) % 701 * 13, u32::try_from(n * 31 % 9_000).unwrap());
            if n % 5 == round % 5 { next_day(one) } else { one }
        };
        store.report((0..600).map(of).collect(), now()).await.unwrap();
    }
    store.erase(Uid(13)).await.unwrap();
    let mut copy = BTreeMap::<(Day, Uid), u32>::new();
    let mut read = BTreeMap::new();
    for part in parts() {
        for Changed { uid, day, steps } in decoded(&store.outbox(part).await.unwrap().postings) {
            assert_eq!(step_store::part(uid), part);
            match steps {
                Some(steps) => copy.insert((day, uid), steps),
                None => copy.remove(&(day, uid)),
            };
        }
        for day in store.days(part).await.unwrap() {
            let mut from = None;
            loop {
                let totals = store.totals(part, day, from).await.unwrap();
                read.extend(totals.totals.into_iter().map(|(uid, steps)| ((day, uid), steps)));
                from = totals.next;
                if from.is_none() {
                    break;
                }
            }
        }
    }
    assert!(copy.len() > 400 && copy.keys().any(|(on, _)| *on == day("20260608")));
    // an entry of 0 steps is a total, but no change
    read.retain(|_, steps| *steps > 0);
    assert_eq!(copy, read);
    for ((day, uid), steps) in &copy {
        assert_eq!(store.read_many(&[*uid], *day).await.unwrap(), [Read::Steps(*steps)]);
    }
}

pub(crate) async fn totals_come_in_bounded_pieces(engine: &mut impl Engine) {
    let store = engine.store();
    let uids: BTreeSet<_> = (0..5_000u64).map(|n| Uid(n * 32 * u64::from(PARTS) + n % 32)).collect();
    for some in uids.iter().collect::<Vec<_>>().chunks(10_000) {
        give(&store, some.iter().map(|uid| total(uid.0, 3)).collect()).await;
    }
    assert!(uids.iter().all(|uid| part(*uid) == 0));
    assert_eq!(store.days(0).await.unwrap(), [today()]);
    assert!(store.days(1).await.unwrap().is_empty());
    assert!(store.totals(1, today(), None).await.unwrap().totals.is_empty());
    let (mut from, mut found) = (None, BTreeSet::new());
    loop {
        let totals = store.totals(0, today(), from).await.unwrap();
        assert!(totals.totals.len() <= 1_000, "{}", totals.totals.len());
        found.extend(totals.totals.into_iter().map(|(uid, _)| uid));
        from = totals.next;
        if from.is_none() {
            break;
        }
    }
    assert_eq!(found, uids);
}
