//! A seal of more users than lie together in a store, worked in all kinds of pieces.

use domain::{ShardCount, Uid, Zone, slot};
use night_ledger::{Claim, Due, NightLedger, Outcome, Reason, Seal, Sealed, Step, Stepped};

use crate::rig::{all, granted, key, night, sample, step, those};

/// Two blocks and one of fewer positions, yet enough for each form.
pub(crate) const LARGE: u32 = 2_745;

fn large() -> Seal {
    let due = (0..u64::from(LARGE)).map(|u| {
        let closed = (u % 500 == 7).then_some(Reason::ZoneMoved);
        Due { uid: Uid(u), slot: slot(Uid(u), 4), channel: 0, zone: 0, closed }
    });
    let mut seal = Seal { due: due.collect(), ..sample() };
    seal.sort();
    seal
}

pub(crate) async fn seal(ledger: &dyn NightLedger) {
    ledger.shard_count(&night(), ShardCount::MIN).await.unwrap();
    assert_eq!(ledger.seal(&key(), &large()).await.unwrap(), Sealed::Written);
}

/// These positions, with their zone.
pub(crate) fn places(positions: impl IntoIterator<Item = u32>) -> Vec<(u32, Zone)> {
    let zone = sample().zones[0].zone;
    positions.into_iter().map(|position| (position, zone)).collect()
}

/// Claims these positions by the `batch`-th batch and books the outcome for those that are granted.
pub(crate) async fn work(
    ledger: &dyn NightLedger,
    batch: u32,
    positions: impl IntoIterator<Item = u32>,
    outcome: &Outcome,
) {
    let places = places(positions);
    let claims = granted(ledger, Step { claim: places.clone(), ..step(batch, 1, 1) }).await;
    let done = all(&those(&places, &claims), outcome);
    granted(ledger, Step { done, ..step(batch, 1, 1) }).await;
}

pub(crate) async fn claims(ledger: &dyn NightLedger) -> Vec<Claim> {
    let all: Vec<u32> = (0..LARGE).collect();
    ledger.claims(&key(), &all).await.unwrap().into_iter().map(|held| held.claim).collect()
}

/// Pieces of every kind: neighbours, over the edges of what lies together, scattered, single ones, and those at the end.
/// Answers the claims after each.
pub(crate) async fn in_pieces(ledger: &dyn NightLedger) -> Vec<Vec<Claim>> {
    let pieces: Vec<(Vec<u32>, Outcome)> = vec![
        ((0..100).collect(), Outcome::Delivered),
        ((100..200).collect(), Outcome::Closed(Reason::NoSteps)),
        ((990..1_010).collect(), Outcome::Delivered),
        (vec![1_999, 2_000], Outcome::Released),
        ((400..1_700).rev().filter(|p| p % 300 < 257).collect(), Outcome::Delivered),
        ((0..LARGE).filter(|p| p % 3 == 1).collect(), Outcome::Retry { maybe: true }),
        (vec![LARGE - 1, 0, 300], Outcome::Closed(Reason::Refused)),
        ((1_500..LARGE).collect(), Outcome::Delivered),
        ((0..LARGE).filter(|p| p % 7 == 2).collect(), Outcome::Released),
        ((0..LARGE).collect(), Outcome::Delivered),
    ];
    let mut seen = Vec::new();
    for (batch, (positions, outcome)) in (0u32..).zip(pieces) {
        work(ledger, batch, positions, &outcome).await;
        seen.push(claims(ledger).await);
        assert!(ledger.sums(&night()).await.unwrap().agrees(&ledger.recount(&night()).await.unwrap()));
    }
    for beyond in [LARGE, 3_000, u32::MAX] {
        let claim = places([LARGE - 1, beyond]);
        assert_eq!(ledger.step(Step { claim, ..step(99, 1, 1) }).await.unwrap(), Stepped::NoSeal);
    }
    seen
}
