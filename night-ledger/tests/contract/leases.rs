//! Leases on shards, and who is alive. On an engine that one process has for itself, a new owner is the only one.

use std::time::Duration;

use domain::Shard;
use night_ledger::{Group, NightLedger, Owner, ShardLease};

use crate::engine::Engine;

const LONG: Duration = Duration::from_secs(600);

pub(crate) async fn an_epoch_rises_with_every_new_owner(engine: &mut dyn Engine) {
    let ledger = engine.ledger();
    let first = held(&*ledger, 1).await;
    assert_eq!(held(&*ledger, 1).await, first, "a renewal keeps it");
    // not his to give up
    ledger.release_shard(Shard(0), Owner(2)).await.unwrap();
    assert_eq!(held(&*ledger, 1).await, first);
    ledger.release_shard(Shard(0), Owner(1)).await.unwrap();
    let second = held(&*ledger, 2).await;
    assert!(second > first);
    ledger.release_shard(Shard(0), Owner(2)).await.unwrap();
    let third = held(&*ledger, 2).await;
    assert!(third > second, "another may have had it in between");
    assert!(matches!(ledger.lease_shard(Shard(1), Owner(2), LONG).await.unwrap(), ShardLease::Held(_)));
}

pub(crate) async fn whoever_announces_itself_is_alive(engine: &mut dyn Engine) {
    let ledger = engine.ledger();
    assert_eq!(ledger.members(Group::Senders, Owner(u64::MAX), LONG).await.unwrap(), [Owner(u64::MAX)]);
    ledger.leave(Group::Senders, Owner(u64::MAX)).await.unwrap();
    ledger.leave(Group::Senders, Owner(u64::MAX)).await.unwrap();
    assert_eq!(ledger.members(Group::Senders, Owner(1), LONG).await.unwrap(), [Owner(1)]);
    assert_eq!(ledger.members(Group::Schedulers, Owner(2), LONG).await.unwrap(), [Owner(2)]);
}

/// The epoch under which `owner` has shard 0; it must get it.
async fn held(ledger: &dyn NightLedger, owner: u64) -> u64 {
    match ledger.lease_shard(Shard(0), Owner(owner), LONG).await.unwrap() {
        ShardLease::Held(epoch) => epoch,
        ShardLease::Taken => panic!("taken"),
    }
}
