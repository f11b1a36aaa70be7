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
    assert!(matches!(ledger.lease_shard(Shard(1), Owner(2), LONG, 0).await.unwrap(), ShardLease::Held(_)));
}

pub(crate) async fn an_epoch_is_above_the_one_that_is_given(engine: &mut dyn Engine) {
    let ledger = engine.ledger();
    let first = held(&*ledger, 1).await;
    assert_eq!(held_above(&*ledger, 1, first - 1).await, first, "it is above that");
    let second = held_above(&*ledger, 1, first).await;
    assert!(second > first, "one's own is taken anew");
    // an hour of a server's clock ahead of this one's
    let far = second + 3_600_000_000;
    let third = held_above(&*ledger, 1, far).await;
    assert!(third > far);
    assert_eq!(held_above(&*ledger, 1, far).await, third);
    assert_eq!(held(&*ledger, 1).await, third, "a renewal keeps it");
    ledger.release_shard(Shard(0), Owner(1)).await.unwrap();
    let fourth = held_above(&*ledger, 2, third + 3_600_000_000).await;
    assert!(fourth > third + 3_600_000_000, "a new one's, too");
    ledger.release_shard(Shard(0), Owner(2)).await.unwrap();
    assert!(held_above(&*ledger, 1, first).await > fourth, "and above the last one in any case");
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
    held_above(ledger, owner, 0).await
}

/// The same, where the epoch has to be above this one.
async fn held_above(ledger: &dyn NightLedger, owner: u64, above: u64) -> u64 {
    match ledger.lease_shard(Shard(0), Owner(owner), LONG, above).await.unwrap() {
        ShardLease::Held(epoch) => epoch,
        ShardLease::Taken => panic!("taken"),
    }
}
