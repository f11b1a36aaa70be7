use std::time::Duration;

use rig::{Proxy, RedisServer, until};

use super::{
    shared_broker,
    stage::{LONGEST, SOON, Stage, Wanted},
};

/// How long a push that is in flight may still take, with its booking.
const THROUGH: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_killed_and_started_again_knows_every_claim() {
    let mut stage = Stage::new(Wanted::default()).await;
    stage.cast(2, 2).await;
    stage.pushed(300).await;
    stage.redis().kill();
    let complaint = stage.fleet.unready("sender-a", SOON).await;
    println!("without Redis: {complaint}");
    nothing_is_pushed_unguarded(&stage).await;
    stage.redis().restart().await;
    let most = 4 * stage.setting.in_flight();
    stage.whole(most).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_pauses_is_waited_for_and_no_calls_pile_up() {
    let mut stage = Stage::new(Wanted::default()).await;
    stage.cast(2, 2).await;
    stage.pushed(300).await;
    // nothing ends it early: it has to outlast the look at what is pushed meanwhile, also on a busy machine
    stage.redis().cli(&["CLIENT", "PAUSE", "20000", "ALL"]).await;
    nothing_is_pushed_unguarded(&stage).await;
    let clients = until("Redis to answer", LONGEST, async || {
        let info = stage.redis.as_ref()?.cli(&["INFO", "clients"]).await;
        info.lines().find_map(|l| l.strip_prefix("connected_clients:")?.trim().parse::<u64>().ok())
    })
    .await;
    // four daemons of two connections each; a call that gave up drops its connection, which Redis sees when it is awake
    assert!(clients < 200, "{clients} connections piled up");
    let most = 4 * stage.setting.in_flight();
    stage.whole(most).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_is_full_stops_the_pushes_until_there_is_room() {
    let mut stage = Stage::new(Wanted::default()).await;
    stage.cast(1, 2).await;
    stage.pushed(300).await;
    stage.redis().cli(&["CONFIG", "SET", "maxmemory", "1mb"]).await;
    let complaint = stage.fleet.unready("sender-a", SOON).await;
    assert!(complaint.contains("memory"), "it does not say what is short: {complaint}");
    nothing_is_pushed_unguarded(&stage).await;
    stage.redis().cli(&["CONFIG", "SET", "maxmemory", "0"]).await;
    let most = 4 * stage.setting.in_flight();
    stage.whole(most).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_may_evict_is_refused_while_it_may() {
    let wanted = Wanted { pace: Duration::from_millis(700), ..Wanted::default() };
    let mut stage = Stage::new(wanted).await;
    stage.cast(1, 2).await;
    stage.pushed(100).await;
    stage.redis().cli(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]).await;
    let complaint = stage.fleet.unready("sender-a", SOON).await;
    assert!(complaint.contains("maxmemory-policy"), "{complaint}");
    stage.fleet.unready("sender-b", SOON).await;
    nothing_is_pushed_unguarded(&stage).await;
    // nor does one start now
    let refused = stage.fleet.command(&["sender", "run"]).await.expect(78);
    assert!(refused.stderr.contains("maxmemory-policy"), "{refused}");
    stage.redis().cli(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]).await;
    stage.receiver.pace(Duration::from_millis(5));
    let most = 4 * stage.setting.in_flight();
    stage.whole(most).await;
}

/// The server changes its place behind the name, and the one that was left refuses writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_made_a_replica_is_left_for_the_new_primary() {
    let broker = shared_broker::shared().await;
    let (first, second) =
        (RedisServer::start(&[]).await, RedisServer::start(&["--repl-diskless-sync-delay", "0"]).await);
    let name = Proxy::start(first.address()).await;
    let (stores, queue) = (vec![format!("redis://{}", name.address())], broker.url());
    let mut stage = Stage::set(Wanted::default(), broker, Some(first), stores, &queue).await;
    let port = stage.redis().port().to_string();
    second.cli(&["REPLICAOF", "127.0.0.1", &port]).await;
    stage.cast(2, 2).await;
    stage.pushed(200).await;
    // by the word of the primary, who hears of it after the replica itself and takes no other as its heir
    until("the replica to follow", LONGEST, async || {
        stage.redis.as_ref()?.cli(&["INFO", "replication"]).await.contains("state=online").then_some(())
    })
    .await;
    // waits until the replica has everything, and changes the roles
    let there = second.port().to_string();
    stage.redis().cli(&["FAILOVER", "TO", "127.0.0.1", &there, "TIMEOUT", "10000"]).await;
    until("the other one to be the primary", LONGEST, async || {
        second.cli(&["INFO", "replication"]).await.contains("role:master").then_some(())
    })
    .await;
    name.point_to(second.address());
    let most = 4 * stage.setting.in_flight();
    stage.whole(most).await;
}

/// While claims cannot be read or written no push goes out, beside what was in flight.
async fn nothing_is_pushed_unguarded(stage: &Stage) {
    let settled = stage.quiet(THROUGH).await;
    tokio::time::sleep(THROUGH).await;
    assert_eq!(stage.receiver.count(), settled, "pushes went out without a claim");
}
