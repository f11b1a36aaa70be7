//! Random pieces of a seal of more users than lie together in a store, worked by two engines side by side.

use std::ops::Range;

use night_ledger::{Done, NightLedger, Outcome, Reason, Step};
use proptest::prelude::*;

use crate::{
    large::{self, LARGE},
    rig::{granted, key, night, step},
};

/// Some positions of the seal and what comes of them.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    positions: Vec<u32>,
    attempt: u8,
    /// The outcomes of the positions that are granted, in turn; none: they stay claimed.
    outcomes: Vec<Outcome>,
}

/// The pieces of a case. It begins with some that make claims as unlike as can be and alike again, so that each case goes
/// from one form of what lies together to the other and back.
pub(crate) fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let odd: Vec<_> = (0..LARGE).filter(|position| position % 2 == 1).collect();
    let first = Piece { positions: odd, attempt: 1, outcomes: vec![Outcome::Released] };
    prop::collection::vec(piece(), 6..12)
        .prop_map(move |more| [first.clone()].into_iter().chain(more).collect())
}

fn piece() -> impl Strategy<Value = Piece> {
    let outcome = prop_oneof![
        3 => Just(Outcome::Delivered),
        2 => Just(Outcome::Released),
        2 => Just(Outcome::Retry { maybe: false }),
        1 => Just(Outcome::Retry { maybe: true }),
        2 => Just(Outcome::Closed(Reason::Attempts)),
        1 => Just(Outcome::Closed(Reason::NoSteps)),
        1 => Just(Outcome::Closed(Reason::Refused)),
    ];
    let outcomes = prop_oneof![
        1 => Just(Vec::new()),
        6 => prop::collection::vec(outcome.clone(), 1),
        6 => prop::collection::vec(outcome, 2..8),
    ];
    (positions(), prop_oneof![5 => Just(1u8), 2 => Just(2), 1 => Just(3)], outcomes)
        .prop_map(|(positions, attempt, outcomes)| Piece { positions, attempt, outcomes })
}

/// Scattered ones, neighbours, neighbours over the edges of what lies together, or everybody; some the other way round.
fn positions() -> impl Strategy<Value = Vec<u32>> {
    let range = |from: u32, many: u32| from..(from + many).min(LARGE);
    let every = |Range { start, end }: Range<u32>, step: u32| {
        (start..end).step_by(usize::try_from(step).unwrap()).collect::<Vec<_>>()
    };
    let some = prop_oneof![
        5 => (0..LARGE, 200..LARGE, 2u32..5).prop_map(move |(from, many, step)| every(range(from, many), step)),
        2 => prop::collection::btree_set(0..LARGE, 1..40).prop_map(|set| set.into_iter().collect()),
        3 => (0..LARGE, 1u32..400).prop_map(move |(from, many)| every(range(from, many), 1)),
        3 => (1..=LARGE / 1_000, 1u32..40, 1u32..80, 1u32..4)
            .prop_map(move |(edge, before, many, step)| every(range(edge * 1_000 - before, many), step)),
        2 => Just(every(0..LARGE, 1)),
    ];
    (some, any::<bool>()).prop_map(|(mut positions, turned)| {
        if turned {
            positions.reverse();
        }
        positions
    })
}

/// Works the pieces on both, then opens again what was given up, and closes the seal. After each step both have the same claims
/// and sums, and the sums agree with the recount; then `after` is called.
pub(crate) async fn work(
    ours: &dyn NightLedger,
    theirs: &dyn NightLedger,
    pieces: &[Piece],
    mut after: impl AsyncFnMut(),
) {
    large::seal(ours).await;
    large::seal(theirs).await;
    for (batch, piece) in (0u32..).zip(pieces) {
        let begin = || step(batch, piece.attempt, 1);
        let places = large::places(piece.positions.iter().copied());
        let claim = Step { claim: places.clone(), ..begin() };
        let claims = granted(ours, claim.clone()).await;
        assert!(claims == granted(theirs, claim).await, "the claims of {piece:?}");
        same(ours, theirs, piece).await;
        after().await;
        let claimed = places.iter().zip(&claims).filter(|(_, claim)| claim.is_some());
        let outcomes = piece.outcomes.iter().cycle();
        let done = claimed.zip(outcomes).map(|((&(position, zone), _), outcome)| Done {
            position,
            zone,
            outcome: outcome.clone(),
        });
        let done = Step { done: done.collect(), ..begin() };
        assert_eq!(granted(ours, done.clone()).await, granted(theirs, done).await);
        same(ours, theirs, piece).await;
        after().await;
    }
    let all: Vec<_> = (0..LARGE).collect();
    let opened = ours.reopen(&key(), &all).await.unwrap();
    assert_eq!(opened, theirs.reopen(&key(), &all).await.unwrap());
    same(ours, theirs, "who was opened again").await;
    after().await;
    let closed = ours.close(&key(), LARGE / 2).await.unwrap();
    assert_eq!(closed, theirs.close(&key(), LARGE / 2).await.unwrap());
    same(ours, theirs, "the end").await;
    after().await;
}

async fn same(ours: &dyn NightLedger, theirs: &dyn NightLedger, what: impl std::fmt::Debug) {
    let (mine, other) = (large::claims(ours).await, large::claims(theirs).await);
    let differ = mine.iter().zip(&other).position(|(mine, other)| mine != other);
    assert!(differ.is_none(), "at {differ:?} after {what:?}");
    let (sums, recount) = (ours.sums(&night()).await.unwrap(), ours.recount(&night()).await.unwrap());
    assert!(sums.agrees(&recount), "{sums:?}\n{recount:?}\nafter {what:?}");
    assert_eq!(sums, theirs.sums(&night()).await.unwrap(), "after {what:?}");
}
