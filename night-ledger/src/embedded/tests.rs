mod steps;

use std::{path::Path, sync::Arc, time::Duration};

use domain::{BatchId, ChannelName, Instant, Night, SealKey, Shard, ShardCount, Uid, Zone, slot};
use plumbing::File;
use proptest::prelude::*;

use super::EmbeddedLedger;
use crate::{
    Claim, Done, Due, NightLedger, Outcome, Owner, Raised, Reason, Seal, SealZone, Sealed, ShardLease, State,
    Step, Stepped,
};

const USERS: u32 = 90;
const CHUNK: u32 = 10;

fn night() -> Night {
    Night { campaign: "nightly".parse().unwrap(), day: "20260607".parse().unwrap() }
}

fn key() -> SealKey {
    SealKey { night: night(), shard: Shard(0), instant: Instant::from_timestamp(1_780_862_400, 0).unwrap() }
}

fn zones() -> [Zone; 2] {
    ["Europe/Berlin", "Europe/Paris"].map(|z| z.parse().unwrap())
}

fn channels() -> [ChannelName; 2] {
    ["stub", "webhook"].map(|c| c.parse().unwrap())
}

fn sample() -> Seal {
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

async fn open(path: &Path) -> EmbeddedLedger {
    EmbeddedLedger::open(Arc::new(File::open(path).unwrap())).await.unwrap()
}

fn step(batch: u32, attempt: u8, owner: u64) -> Step {
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

fn positions(batch: u32) -> Vec<(u32, Zone)> {
    let seal = sample();
    let zone = |p: u32| seal.zones[usize::from(seal.due[p as usize].zone)].zone;
    (batch * CHUNK..(batch + 1) * CHUNK).map(|p| (p, zone(p))).collect()
}

async fn check(ledger: &EmbeddedLedger) -> crate::Line {
    let (sums, recount) = (ledger.sums(&night()).await.unwrap(), ledger.recount(&night()).await.unwrap());
    for (at, line) in &sums.lines {
        assert_eq!(line.unknown(), 0, "{at:?}: {line:?}");
        let counted = recount.lines.get(at).copied().unwrap_or_default();
        assert_eq!(*line, counted, "{at:?}");
    }
    assert_eq!(sums.total().due, u64::from(USERS));
    sums.total()
}

#[derive(Clone, Debug)]
enum Act {
    /// Batch, attempt, owner, an outcome for each place, whether to claim as well.
    Work(u32, u8, u64, Vec<u8>, bool),
    GiveUp(u32, u8, u64),
    Kill,
    Close(u32),
}

fn act() -> impl Strategy<Value = Act> {
    let outcomes = prop::collection::vec(0u8..7, CHUNK as usize);
    prop_oneof![
        30 => (0..USERS / CHUNK, 1u8..4, 1u64..4, outcomes, any::<bool>()).prop_map(|(b, a, o, d, c)| Act::Work(b, a, o, d, c)),
        6 => (0..USERS / CHUNK, 1u8..4, 1u64..3).prop_map(|(b, a, o)| Act::GiveUp(b, a, o)),
        5 => Just(Act::Kill),
        1 => (0..=USERS).prop_map(Act::Close),
    ]
}

fn outcome(number: u8) -> Outcome {
    match number {
        0 | 1 => Outcome::Delivered,
        2 => Outcome::Retry { maybe: false },
        3 => Outcome::Retry { maybe: true },
        4 => Outcome::Closed(Reason::NoSteps),
        5 => Outcome::Released,
        _ => Outcome::Moved { channel: channels()[1].clone() },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Thousands of random steps and kills: the identity holds, the recount agrees, and what is over stays over.
    #[test]
    fn the_sums_hold_at_every_moment(acts in prop::collection::vec(act(), 60..120)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("data");
            let mut ledger = open(&path).await;
            ledger.seal(&key(), &sample()).await.unwrap();
            ledger.shard_count(&night(), ShardCount::MIN).await.unwrap();
            let all: Vec<u32> = (0..USERS).collect();
            let mut before = ledger.claims(&key(), &all).await.unwrap();
            for act in acts {
                match act {
                    Act::Work(batch, attempt, owner, outcomes, claim) => {
                        // a sender has the users of one channel in a batch; here the owner picks it
                        let channel = &channels()[usize::from(owner == 2)];
                        let mut step = Step { channel: channel.clone(), ..step(batch, attempt, owner) };
                        step.batch = step.batch.child(attempt, channel, []);
                        let on = |p: u32| before[p as usize].moved.as_ref().unwrap_or(&channels()[0]) == channel;
                        let places: Vec<_> = positions(batch).into_iter().filter(|(p, _)| on(*p)).collect();
                        let done = places.iter().zip(outcomes);
                        step.done = done.map(|(&(position, zone), o)| Done { position, zone, outcome: outcome(o) }).collect();
                        step.claim = if claim { places } else { Vec::new() };
                        ledger.step(step).await.unwrap();
                    }
                    Act::GiveUp(batch, attempt, owner) => {
                        ledger.step(Step { term: Duration::ZERO, ..step(batch, attempt, owner) }).await.unwrap();
                    }
                    Act::Kill => {
                        drop(ledger);
                        ledger = open(&path).await;
                    }
                    Act::Close(published) => {
                        ledger.close(&key(), published).await.unwrap();
                    }
                }
                check(&ledger).await;
                let now = ledger.claims(&key(), &all).await.unwrap();
                for (old, new) in before.iter().map(|h| h.claim).zip(now.iter().map(|h| h.claim)) {
                    assert!(old.open() || old == new, "{old:?} became {new:?}");
                    assert!(!old.maybe() || new.maybe());
                }
                before = now;
            }
        });
    }
}

#[tokio::test]
async fn a_seal_is_written_once_and_a_zone_only_in_one() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder.path().join("data")).await;
    assert_eq!(ledger.seal(&key(), &sample()).await.unwrap(), Sealed::Written);
    let other = Seal { due: Vec::new(), ..sample() };
    assert_eq!(ledger.seal(&key(), &other).await.unwrap(), Sealed::Stands);
    assert_eq!(ledger.sealed(&key()).await.unwrap(), Some(sample()));
    let later = SealKey { instant: key().instant + chrono::TimeDelta::hours(1), ..key() };
    let taken = ledger.seal(&later, &sample()).await.unwrap();
    assert_eq!(taken, Sealed::ZoneTaken(zones()[0], key().instant));
    assert_eq!(ledger.sealed(&later).await.unwrap(), None);
    assert_eq!(check(&ledger).await.reasons[usize::from(Reason::ZoneMoved.code())], 6);
}

#[tokio::test]
async fn closing_calls_uncertain_what_may_have_been_taken() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder.path().join("data")).await;
    ledger.seal(&key(), &sample()).await.unwrap();
    let places = positions(1);
    ledger.step(Step { claim: places.clone(), ..step(1, 1, 1) }).await.unwrap();
    let retry =
        |&(position, zone): &(u32, Zone), maybe| Done { position, zone, outcome: Outcome::Retry { maybe } };
    let done = places.iter().enumerate().map(|(i, place)| retry(place, i < 4)).collect();
    ledger.step(Step { done, term: Duration::ZERO, ..step(1, 1, 1) }).await.unwrap();
    let closed = ledger.close(&key(), USERS).await.unwrap();
    assert!(closed.uncertain >= 3 && closed.uncertain <= 4, "{closed:?}");
    assert!(closed.expired >= 5 && closed.missed == 0, "{closed:?}");
}

#[tokio::test]
async fn closing_tells_missed_from_never_worked_and_happens_once() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder.path().join("data")).await;
    ledger.seal(&key(), &sample()).await.unwrap();
    ledger.step(Step { claim: positions(0), ..step(0, 1, 1) }).await.unwrap();
    let open_before = check(&ledger).await.open;
    let closed = ledger.close(&key(), 50).await.unwrap();
    assert_eq!(closed.missed + closed.never_worked + closed.uncertain, open_before);
    assert!(closed.missed > 30 && closed.never_worked > 30 && closed.uncertain >= 9, "{closed:?}");
    assert_eq!(check(&ledger).await.open, 0);
    assert_eq!(ledger.close(&key(), 0).await.unwrap(), crate::ClosedOpen::default());
    // an answer that comes after the end changes nothing
    let late = positions(0)
        .iter()
        .map(|&(position, zone)| Done { position, zone, outcome: Outcome::Delivered })
        .collect();
    ledger.step(Step { done: late, ..step(0, 1, 1) }).await.unwrap();
    assert_eq!(check(&ledger).await.delivered, 0);
}

#[tokio::test]
async fn a_lower_epoch_is_refused_and_a_checkpoint_never_goes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let ledger = open(&path).await;
    ledger.seal(&key(), &sample()).await.unwrap();
    let ShardLease::Held(first) = ledger.lease_shard(Shard(0), Owner(1), Duration::ZERO).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(
        ledger.lease_shard(Shard(0), Owner(1), Duration::ZERO).await.unwrap(),
        ShardLease::Held(first)
    );
    let second = ledger.lease_shard(Shard(0), Owner(2), Duration::ZERO).await.unwrap();
    assert_eq!(second, ShardLease::Held(first + 1));
    assert_eq!(ledger.raise_epoch(&night(), Shard(0), first).await.unwrap(), Raised::Yes);
    assert_eq!(ledger.checkpoint(&key(), first, 3).await.unwrap(), Raised::Yes);
    assert_eq!(ledger.raise_epoch(&night(), Shard(0), first + 1).await.unwrap(), Raised::Yes);
    assert_eq!(ledger.checkpoint(&key(), first, 4).await.unwrap(), Raised::Outbid(first + 1));
    assert_eq!(ledger.checkpoint(&key(), first + 1, 2).await.unwrap(), Raised::Yes);
    assert_eq!(ledger.seals(&night(), Shard(0)).await.unwrap()[0].1.batches, 3);
}

#[tokio::test]
async fn a_night_keeps_its_shard_count_and_is_forgotten_whole() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder.path().join("data")).await;
    let two = ShardCount::new(2).unwrap();
    assert_eq!(ledger.shard_count(&night(), two).await.unwrap(), two);
    assert_eq!(ledger.shard_count(&night(), ShardCount::new(8).unwrap()).await.unwrap(), two);
    ledger.seal(&key(), &sample()).await.unwrap();
    assert_eq!(ledger.nights().await.unwrap(), [night()]);
    assert_eq!(ledger.forget(night().day).await.unwrap(), 0);
    assert_eq!(ledger.forget(night().day.next()).await.unwrap(), 1);
    assert!(ledger.nights().await.unwrap().is_empty());
    assert!(ledger.sums(&night()).await.unwrap().lines.is_empty());
    assert_eq!(ledger.sealed(&key()).await.unwrap(), None);
    assert!(ledger.claims(&key(), &[0]).await.is_err());
}

#[test]
fn a_claim_byte_of_an_unknown_kind_is_an_error() {
    assert_eq!(Claim::from_byte(0), None);
}
