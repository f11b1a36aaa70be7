//! One seal of 90 users in two zones, and steps on it.

use std::{sync::Arc, time::Duration};

use domain::{BatchId, ChannelName, Instant, Night, SealKey, Shard, ShardCount, Uid, Zone, slot};
use night_ledger::{
    Claim, Done, Due, Line, NightLedger, Outcome, Owner, Reason, Seal, SealZone, Sealed, Step, Stepped,
};

use crate::engine::Engine;

pub(crate) const USERS: u32 = 90;
pub(crate) const CHUNK: u32 = 10;

pub(crate) fn night() -> Night {
    Night { campaign: "nightly".parse().unwrap(), day: "20260607".parse().unwrap() }
}

pub(crate) fn key() -> SealKey {
    SealKey { night: night(), shard: Shard(0), instant: Instant::from_timestamp(1_780_862_400, 0).unwrap() }
}

pub(crate) fn zones() -> [Zone; 2] {
    ["Europe/Berlin", "Europe/Paris"].map(|zone| zone.parse().unwrap())
}

pub(crate) fn channels() -> [ChannelName; 2] {
    ["stub", "webhook"].map(|channel| channel.parse().unwrap())
}

pub(crate) fn sample() -> Seal {
    let deadline = Instant::from_timestamp(1_780_869_600, 0).unwrap();
    let due = (0..u64::from(USERS)).map(|u| Due {
        uid: Uid(u),
        slot: slot(Uid(u), 4),
        channel: 0,
        zone: u8::from(u % 2 == 0),
        closed: (u % 17 == 0).then_some(Reason::ZoneMoved),
    });
    let mut seal = Seal {
        n: ShardCount::MIN,
        window: 4,
        channels: channels().to_vec(),
        zones: zones().map(|zone| SealZone { zone, deadline }).to_vec(),
        due: due.collect(),
    };
    seal.sort();
    seal
}

/// The ledger of an engine, with the sample sealed.
pub(crate) async fn sealed(engine: &dyn Engine) -> Arc<dyn NightLedger> {
    let ledger = engine.ledger();
    ledger.shard_count(&night(), ShardCount::MIN).await.unwrap();
    assert_eq!(ledger.seal(&key(), &sample()).await.unwrap(), Sealed::Written);
    ledger
}

/// A step on the `batch`-th batch that neither books nor claims.
pub(crate) fn step(batch: u32, attempt: u8, owner: u64) -> Step {
    let id = BatchId::root(&key(), batch);
    Step {
        seal: key(),
        batch: if attempt == 1 { id } else { id.child(attempt, &channels()[0], []) },
        attempt,
        channel: channels()[0].clone(),
        owner: Owner(owner),
        term: Duration::from_secs(600),
        done: Vec::new(),
        claim: Vec::new(),
        pending: None,
        at: Instant::from_timestamp(1_780_862_401, 0).unwrap(),
    }
}

/// Its places, with their zones.
pub(crate) fn places(batch: u32) -> Vec<(u32, Zone)> {
    places_at(batch * CHUNK..(batch + 1) * CHUNK)
}

pub(crate) fn places_at(positions: impl IntoIterator<Item = u32>) -> Vec<(u32, Zone)> {
    let seal = sample();
    let zone = |p: u32| seal.zones[usize::from(seal.due[p as usize].zone)].zone;
    positions.into_iter().map(|p| (p, zone(p))).collect()
}

/// The same outcome for all of these places.
pub(crate) fn all(places: &[(u32, Zone)], outcome: &Outcome) -> Vec<Done> {
    places.iter().map(|&(position, zone)| Done { position, zone, outcome: outcome.clone() }).collect()
}

/// What a step was granted; it must not be held.
pub(crate) async fn granted(ledger: &dyn NightLedger, step: Step) -> Vec<Option<Claim>> {
    match ledger.step(step).await.unwrap() {
        Stepped::Done(claims) => claims,
        other => panic!("{other:?}"),
    }
}

/// Those of the places that were granted.
pub(crate) fn those(places: &[(u32, Zone)], granted: &[Option<Claim>]) -> Vec<(u32, Zone)> {
    places.iter().zip(granted).filter(|(_, claim)| claim.is_some()).map(|(place, _)| *place).collect()
}

pub(crate) async fn claims(ledger: &dyn NightLedger) -> Vec<Claim> {
    let all: Vec<u32> = (0..USERS).collect();
    ledger.claims(&key(), &all).await.unwrap().into_iter().map(|held| held.claim).collect()
}

/// Checks the identity and that the recount agrees; answers the total.
pub(crate) async fn check(ledger: &dyn NightLedger) -> Line {
    let (sums, recount) = (ledger.sums(&night()).await.unwrap(), ledger.recount(&night()).await.unwrap());
    for (at, line) in &sums.lines {
        assert_eq!(line.unknown(), 0, "{at:?}: {line:?}");
    }
    assert!(sums.agrees(&recount), "{sums:?}\n{recount:?}");
    assert_eq!(sums.total().due, u64::from(USERS));
    let seals = ledger.seals(&night(), Shard(0)).await.unwrap();
    assert_eq!(seals[0].1.open, sums.total().open);
    sums.total()
}
