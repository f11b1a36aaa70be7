//! Shards that go to another scheduler and come back.

use std::time::Duration;

use domain::Shard;
use night_ledger::{Owner, Raised, ShardLease};

use crate::{
    DAILY,
    rig::{Rig, at, campaign, uids, user},
    sorted,
};

/// Another scheduler takes a shard in the middle of a night, publishes nothing and goes: its shard comes back at the next
/// tick, not at the next renewal, and nobody is left out.
#[tokio::test]
async fn what_was_outbid_is_taken_up_again_at_the_next_tick() {
    let mut rig = Rig::new(campaign(DAILY, 60), 2).await;
    rig.put((0..200).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    let mut got = rig.sweep("2026-05-10T21:50:00Z", "2026-05-10T22:00:20Z", 1).await;
    let night = rig.night("20260510");
    let lease = rig.ledger.lease_shard(Shard(0), Owner(99), Duration::from_secs(5), 0).await.unwrap();
    let ShardLease::Held(epoch) = lease else { panic!("{lease:?}") };
    assert_eq!(rig.ledger.raise_epoch(&night, Shard(0), epoch).await.unwrap(), Raised::Yes);

    let outbid = rig.tick(at("2026-05-10T22:00:30Z")).await;
    assert!(outbid.publishing, "what was lost is not done");
    // what was published and not confirmed in the ledger is published again, under the same ids
    let lost: Vec<_> = rig.take(rig.queue.depth(&"stub".parse().unwrap()).await.unwrap().ready).await;
    let again = rig.tick(at("2026-05-10T22:00:30Z")).await;
    let back = rig.take(again.published).await;
    assert!(!back.is_empty() && back.iter().all(|b| b.shard == Shard(0)));
    let ids = |batches: &[job_queue::Batch]| {
        batches.iter().filter(|b| b.shard == Shard(0)).map(|b| b.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&lost), ids(&back));

    got.extend(rig.sweep("2026-05-10T22:00:31Z", "2026-05-10T22:01:10Z", 1).await);
    let mut all = uids(&got);
    all.extend(lost.iter().flat_map(|b| &b.entries).map(|e| e.uid.0));
    assert_eq!(sorted(all), (0..200).collect::<Vec<_>>());
}
