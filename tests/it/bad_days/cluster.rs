use std::time::Duration;

use rig::RedisCluster;

use super::{
    shared_broker,
    stage::{Stage, Wanted},
};

/// Every write is on a replica before it counts, so that what is promoted knows every claim.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_moves_slots_and_loses_a_master_within_a_night() {
    let broker = shared_broker::shared().await;
    let mut cluster = RedisCluster::start(1).await;
    // slow enough that the night outlasts both
    let wanted = Wanted {
        pace: Duration::from_millis(400),
        change: |setting| (setting.cluster, setting.durability) = (true, "replicated"),
        ..Wanted::default()
    };
    let queue = broker.url();
    let mut stage = Stage::set(wanted, broker, None, cluster.urls(), &queue).await;
    stage.cast(2, 2).await;
    stage.pushed(100).await;
    let moved = cluster.move_slots(0, 1, 10).await;
    assert!(moved > 0, "the first master had no keys");
    stage.pushed(stage.receiver.count() + 50).await;
    cluster.master(2).kill();
    cluster.promoted(2).await;
    // The promoted one has no replica now, so nothing counts as stored there until the one that died is back, as its replica.
    cluster.master(2).restart().await;
    stage.receiver.pace(Duration::from_millis(5));
    let most = 6 * stage.setting.in_flight();
    stage.whole(most).await;
}
