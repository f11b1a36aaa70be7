use domain::Uid;
use step_store::{Amount, Kind, Refusal, Reported, SourceTotal};

use crate::engine::{Engine, add, give, number, of_source, report, today, total};

pub(crate) async fn the_largest_source_is_the_number(engine: &mut impl Engine) {
    let store = engine.store();
    let watch = |total| of_source(report(1, Amount::Total(total)), "watch");
    let reports = vec![add(1, 3_000, "a"), watch(5_000), add(1, 1_500, "b"), add(1, 1_000, "c")];
    let wanted = [3_000, 5_000, 5_000, 5_500].map(Reported::Stored);
    assert_eq!(give(&store, reports).await, wanted);
    let entry = store.entry(Uid(1), today()).await.unwrap().unwrap();
    let of = |source: &str, kind, total| SourceTotal {
        source: source.parse().unwrap(),
        kind,
        total,
        jumped: false,
    };
    assert_eq!(entry.sources, [of("phone", Kind::Increments, 5_500), of("watch", Kind::Totals, 5_000)]);
    assert_eq!((entry.number(), number(&store, 1).await), (5_500, 5_500));
}

pub(crate) async fn a_source_does_not_mix_increments_and_totals(engine: &mut impl Engine) {
    let store = engine.store();
    let mixed = Reported::Refused(Refusal::MixedKind);
    let reports = vec![add(1, 10, "a"), total(1, 20), total(2, 10), add(2, 20, "a")];
    assert_eq!(give(&store, reports).await, [Reported::Stored(10), mixed, Reported::Stored(10), mixed]);
    // on another Day it may
    let reports = vec![crate::engine::next_day(total(1, 20)), add(1, 5, "b")];
    assert_eq!(give(&store, reports).await, [Reported::Stored(20), Reported::Stored(15)]);
}

pub(crate) async fn eight_sources_and_no_more(engine: &mut impl Engine) {
    let store = engine.store();
    let of = |n: u32| of_source(total(1, 100 + n), &format!("device-{n}"));
    let mut wanted: Vec<_> = (0..8).map(|n| Reported::Stored(100 + n)).collect();
    wanted.push(Reported::Refused(Refusal::TooManySources));
    assert_eq!(give(&store, (0..9).map(of).collect()).await, wanted);
    assert_eq!(give(&store, vec![of_source(total(1, 300), "device-7")]).await, [Reported::Stored(300)]);
    assert_eq!(store.entry(Uid(1), today()).await.unwrap().unwrap().sources.len(), 8);
}

pub(crate) async fn a_raise_of_more_than_20000_is_marked(engine: &mut impl Engine) {
    let store = engine.store();
    let reports =
        vec![total(1, 20_000), total(1, 40_001), total(1, 40_002), add(2, 20_000, "a"), add(2, 20_000, "b")];
    assert!(give(&store, reports).await.iter().all(|answer| matches!(answer, Reported::Stored(_))));
    for (uid, jumped) in [(1, true), (2, false)] {
        assert_eq!(store.entry(Uid(uid), today()).await.unwrap().unwrap().sources[0].jumped, jumped);
    }
}
