use domain::Uid;
use step_store::{
    Amount::{Add, Total},
    Kind, MOST_STEPS, Read, Refusal,
    Reported::{Refused, Repeat, Stored},
};

use crate::engine::{Engine, day, number, of_source, report, seventh, told};

pub(crate) async fn absent_reads_0_and_midnight_is_another_key(engine: &mut impl Engine) {
    let store = engine.store();
    let eighth = day("20260608");
    assert_eq!(number(&*store, 1).await, 0);
    assert_eq!(store.entry(Uid(1), seventh()).await.unwrap(), None);
    assert_eq!(told(&*store, vec![report(1, Add(500), Some(1))]).await, [Stored(500)]);
    assert_eq!(store.read_many(&[Uid(1)], eighth).await.unwrap(), [Read::Steps(0)]);
    assert_eq!(store.entry(Uid(1), eighth).await.unwrap(), None);
    // a report of nothing leaves an entry: that somebody reported is told apart from that nobody did
    assert_eq!(told(&*store, vec![of_source("phone", 1, eighth, Total(0), None)]).await, [Stored(0)]);
    assert_eq!(store.entry(Uid(1), eighth).await.unwrap().unwrap().number(), 0);
    assert_eq!(
        (number(&*store, 1).await, store.report(Vec::new(), crate::engine::noon()).await.unwrap()),
        (500, vec![])
    );
}

/// C10 of the cases of trouble: numbers of more than 16 bits are exact, absurd ones change nothing.
pub(crate) async fn wide_numbers_come_back_exact_and_absurd_ones_are_refused_whole(engine: &mut impl Engine) {
    let store = engine.store();
    for (uid, steps) in [(1, 65_535), (2, 65_536), (3, 79_396), (4, MOST_STEPS)] {
        assert_eq!(told(&*store, vec![report(uid, Total(steps), None)]).await, [Stored(steps)]);
        assert_eq!(number(&*store, uid).await, steps);
    }
    for absurd in [MOST_STEPS + 1, 536_876_864, u32::MAX] {
        let both = vec![report(5, Total(absurd), None), report(6, Add(absurd), Some(absurd.into()))];
        assert_eq!(told(&*store, both).await, [Refused(Refusal::TooMany); 2]);
    }
    assert_eq!(store.entry(Uid(5), seventh()).await.unwrap(), None);
    // the id of a refused report is not kept
    assert_eq!(told(&*store, vec![report(6, Add(1), Some(u32::MAX.into()))]).await, [Stored(1)]);
    assert_eq!(told(&*store, vec![report(4, Add(1), Some(7))]).await, [Refused(Refusal::MixedKind)]);
    assert_eq!(
        told(&*store, vec![report(4, Total(MOST_STEPS + 1), None)]).await,
        [Refused(Refusal::TooMany)]
    );
    assert_eq!(number(&*store, 4).await, MOST_STEPS);
}

pub(crate) async fn increments_add_up_totals_rise_and_the_largest_source_is_the_number(
    engine: &mut impl Engine,
) {
    let store = engine.store();
    let watch = |total| of_source("watch", 1, seventh(), Total(total), None);
    let answers = told(
        &*store,
        vec![
            report(1, Add(500), Some(1)),
            watch(7_639),
            report(1, Add(5_266), Some(2)),
            watch(12),
            watch(7_639),
            report(1, Add(3_000), Some(3)),
            report(2, Add(4), Some(1)),
        ],
    )
    .await;
    let wanted =
        [Stored(500), Stored(7_639), Stored(7_639), Repeat(7_639), Repeat(7_639), Stored(8_766), Stored(4)];
    assert_eq!(answers, wanted);
    let entry = store.entry(Uid(1), seventh()).await.unwrap().unwrap();
    let sources: Vec<_> =
        entry.sources.iter().map(|s| (s.source.as_str(), s.kind, s.total, s.jumped)).collect();
    assert_eq!(sources, [("phone", Kind::Increments, 8_766, false), ("watch", Kind::Totals, 7_639, false)]);
    assert_eq!(entry.number(), 8_766);
}

pub(crate) async fn a_source_keeps_to_one_kind_and_a_day_to_eight_sources(engine: &mut impl Engine) {
    let store = engine.store();
    let mixed = vec![report(1, Add(5), Some(1)), report(1, Total(50), None), report(1, Add(6), Some(2))];
    assert_eq!(told(&*store, mixed).await, [Stored(5), Refused(Refusal::MixedKind), Stored(11)]);
    let nine = (0..9).map(|n| of_source(&format!("s{n}"), 2, seventh(), Total(n), None)).collect();
    let answers = told(&*store, nine).await;
    assert_eq!((answers[7], answers[8]), (Stored(7), Refused(Refusal::TooManySources)));
    // those that are there go on, and another day has room
    let more = vec![
        of_source("s0", 2, seventh(), Total(90), None),
        of_source("s8", 2, day("20260608"), Total(1), None),
    ];
    assert_eq!(told(&*store, more).await, [Stored(90), Stored(1)]);
}

/// C09 of the cases of trouble: a counter that restarts lowers nothing, and a raise that nobody walks is kept and marked.
pub(crate) async fn a_jump_is_kept_and_marked(engine: &mut impl Engine) {
    let store = engine.store();
    let totals = [8_000, 8_350, 12, 40, 30_000].map(|total| report(1, Total(total), None));
    let answers = told(&*store, totals.to_vec()).await;
    assert_eq!(answers, [Stored(8_000), Stored(8_350), Repeat(8_350), Repeat(8_350), Stored(30_000)]);
    let jumped = async || store.entry(Uid(1), seventh()).await.unwrap().unwrap().sources[0].jumped;
    assert!(jumped().await, "21,650 at once");
    told(&*store, vec![report(1, Total(30_001), None)]).await;
    assert!(jumped().await, "the mark stays");
    told(&*store, vec![report(2, Total(20_000), None)]).await;
    assert!(!store.entry(Uid(2), seventh()).await.unwrap().unwrap().sources[0].jumped);
}

pub(crate) async fn a_call_that_is_too_long_stores_nothing(engine: &mut impl Engine) {
    let store = engine.store();
    let long = (0..=10_000).map(|uid| report(uid, Add(1), Some(1))).collect();
    assert!(store.report(long, crate::engine::noon()).await.is_err());
    assert_eq!(number(&*store, 0).await, 0);
    let most = (0..10_000).map(|uid| report(uid, Add(1), Some(1))).collect();
    assert!(told(&*store, most).await.iter().all(|answer| *answer == Stored(1)));
}

pub(crate) async fn many_users_are_read_in_their_order(engine: &mut impl Engine) {
    let store = engine.store();
    let uids: Vec<_> = (0..600u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).chain(0..100).collect();
    let reports =
        uids.iter().enumerate().map(|(n, uid)| report(*uid, Total(u32::try_from(n).unwrap() + 1), None));
    told(&*store, reports.collect()).await;
    let mut asked: Vec<_> = uids.iter().rev().map(|uid| Uid(*uid)).collect();
    asked.extend([Uid(u64::MAX), asked[3], asked[3]]);
    let read = store.read_many(&asked, seventh()).await.unwrap();
    let wanted = |uid: &Uid| {
        // of one that is there twice the later one is the larger
        let place = uids.iter().rposition(|other| *other == uid.0);
        Read::Steps(place.map_or(0, |place| u32::try_from(place).unwrap() + 1))
    };
    assert_eq!(read, asked.iter().map(wanted).collect::<Vec<_>>());
    assert!(store.read_many(&[], seventh()).await.unwrap().is_empty());
}
