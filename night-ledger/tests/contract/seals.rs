//! Seals and how far they have come.

use std::time::Duration;

use chrono::TimeDelta;
use domain::{SealKey, Shard, ShardCount, Uid};
use night_ledger::{Due, Owner, Raised, Reason, Seal, SealZone, Sealed, ShardLease};

use crate::{
    engine::Engine,
    rig::{check, key, night, sample, sealed, zones},
};

pub(crate) async fn a_seal_is_written_once_and_a_zone_only_in_one(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let other = Seal { due: Vec::new(), ..sample() };
    assert_eq!(ledger.seal(&key(), &other).await.unwrap(), Sealed::Stands);
    assert_eq!(ledger.sealed(&key()).await.unwrap(), Some(sample()));
    let later = SealKey { instant: key().instant + TimeDelta::hours(1), ..key() };
    let taken = ledger.seal(&later, &sample()).await.unwrap();
    assert_eq!(taken, Sealed::ZoneTaken(zones()[0], key().instant));
    assert_eq!(ledger.sealed(&later).await.unwrap(), None);
    assert_eq!(check(&*ledger).await.reasons[usize::from(Reason::ZoneMoved.code())], 6);
}

pub(crate) async fn a_seal_that_cannot_be_is_refused(engine: &mut dyn Engine) {
    let ledger = engine.ledger();
    ledger.seal(&key(), &Seal { zones: Vec::new(), ..sample() }).await.unwrap_err();
    let mut off = sample();
    off.due[3].zone = 2;
    ledger.seal(&key(), &off).await.unwrap_err();
    assert_eq!(ledger.sealed(&key()).await.unwrap(), None);
}

pub(crate) async fn a_lower_epoch_is_refused_and_a_checkpoint_never_goes_back(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let shard = Shard(0);
    assert_eq!(ledger.raise_epoch(&night(), shard, 4).await.unwrap(), Raised::Yes);
    assert_eq!(ledger.checkpoint(&key(), 4, 3).await.unwrap(), Raised::Yes);
    assert_eq!(ledger.raise_epoch(&night(), shard, 5).await.unwrap(), Raised::Yes);
    assert_eq!(ledger.raise_epoch(&night(), shard, 4).await.unwrap(), Raised::Outbid(5));
    assert_eq!(ledger.checkpoint(&key(), 4, 4).await.unwrap(), Raised::Outbid(5));
    assert_eq!(ledger.checkpoint(&key(), 5, 2).await.unwrap(), Raised::Yes);
    assert_eq!(ledger.seals(&night(), shard).await.unwrap()[0].1.batches, 3);
    let unknown = SealKey { instant: key().instant + TimeDelta::hours(1), ..key() };
    ledger.checkpoint(&unknown, 9, 1).await.unwrap_err();
    assert_eq!(ledger.checkpoint(&key(), 6, 4).await.unwrap(), Raised::Yes, "9 was not taken");
    // an epoch may be raised before anything of the shard is sealed
    assert_eq!(ledger.raise_epoch(&night(), Shard(7), 2).await.unwrap(), Raised::Yes);
    assert_eq!(ledger.raise_epoch(&night(), Shard(7), 1).await.unwrap(), Raised::Outbid(2));
    assert!(ledger.seals(&night(), Shard(7)).await.unwrap().is_empty());
}

pub(crate) async fn shards_and_instants_are_counted_apart(engine: &mut dyn Engine) {
    let ledger = engine.ledger();
    let n = ShardCount::new(3).unwrap();
    ledger.shard_count(&night(), n).await.unwrap();
    let one = |shard: u32, zone: &str, users: u64| {
        let zone = SealZone { zone: zone.parse().unwrap(), deadline: key().instant };
        let due = (0..users).map(|u| Due {
            uid: Uid(u * 3 + u64::from(shard)),
            slot: 0,
            channel: 0,
            zone: 0,
            closed: None,
        });
        Seal { n, zones: vec![zone], due: due.collect(), ..sample() }
    };
    let late = key().instant + TimeDelta::hours(2);
    for (shard, instant, zone, users) in [
        (1, key().instant, "Europe/Berlin", 5),
        (1, late, "Europe/Lisbon", 7),
        (2, key().instant, "Europe/Berlin", 11),
        (2, late, "Europe/Lisbon", 0),
    ] {
        let key = SealKey { shard: Shard(shard), instant, ..key() };
        assert_eq!(ledger.seal(&key, &one(shard, zone, users)).await.unwrap(), Sealed::Written);
    }
    let opens = |seals: Vec<(SealKey, night_ledger::Progress)>| {
        seals.into_iter().map(|(key, progress)| (key.instant, progress.open)).collect::<Vec<_>>()
    };
    assert_eq!(opens(ledger.seals(&night(), Shard(1)).await.unwrap()), [(key().instant, 5), (late, 7)]);
    assert_eq!(opens(ledger.seals(&night(), Shard(2)).await.unwrap()), [(key().instant, 11), (late, 0)]);
    assert!(ledger.seals(&night(), Shard(0)).await.unwrap().is_empty());
    let empty = SealKey { shard: Shard(2), instant: late, ..key() };
    assert_eq!(ledger.close(&empty, 0).await.unwrap(), night_ledger::ClosedOpen::default());
    let seals = ledger.seals(&night(), Shard(2)).await.unwrap();
    assert_eq!(seals.iter().map(|(_, progress)| progress.closed).collect::<Vec<_>>(), [false, true]);
    let sums = ledger.sums(&night()).await.unwrap();
    assert_eq!(sums.total().due, 23);
    assert!(sums.agrees(&ledger.recount(&night()).await.unwrap()));
    let why = ledger.why(&night(), Uid(13)).await.unwrap().unwrap();
    assert_eq!((why.seal.shard, why.zone.name(), why.position), (Shard(1), "Europe/Berlin", 4));
    assert_eq!(ledger.why(&night(), Uid(15)).await.unwrap(), None);
    let held = ledger.lease_shard(Shard(1), Owner(5), Duration::from_secs(600), 0).await.unwrap();
    assert!(matches!(held, ShardLease::Held(_)), "{held:?}");
}
