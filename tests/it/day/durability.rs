use std::time::{Duration, Instant};

use rig::{Chance, MOST, Proxy, RedisCluster, RedisServer, until};

use super::{
    load::Load,
    stage::{NOON, SOON, Stage, differing, stores, walked_at},
};

const USERS: u64 = 600;
/// Kills of one test.
const KILLS: usize = 4;
/// What `relaxed` may lose.
const MAY_GO: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wal_keeps_what_was_answered_when_ingest_and_redis_are_killed() {
    let mut redis = RedisServer::start(&[]).await;
    let mut stage = Stage::new(&stores(&[redis.url()], false, "wal"), NOON, USERS).await;
    let (load, mut chance) = (load(&mut stage, 2).await, chance());
    for kill in 0..KILLS {
        load.more(1 + chance.below(40)).await;
        if kill % 2 == 0 {
            stage.fleet.kill("a").await;
            stage.fleet.restart("a").await;
        } else {
            redis.kill();
            redis.restart().await;
        }
    }
    load.more(20).await;
    stage.agrees(&load.end().await.recount).await;
}

/// A server that dies alone has handed everything to the system; only a machine that dies takes the last two seconds along. So
/// what differs may be no more than what was answered in that time before a kill.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn relaxed_loses_at_most_two_seconds_and_says_so_at_the_start() {
    let mut redis = RedisServer::start(&["--appendfsync", "everysec"]).await;
    let mut stage = Stage::new(&stores(&[redis.url()], false, "relaxed"), NOON, USERS).await;
    let load = load(&mut stage, 1).await;
    let said = stage.fleet.running("a").log();
    assert!(said.contains("2 s"), "the start does not say what may go: {said}");
    load.more(40).await;
    redis.kill();
    let killed = Instant::now();
    redis.restart().await;
    load.more(20).await;
    let counted = load.end().await;
    stage.fleet.healthy(SOON).await;
    for lost in differing(stage.gateway(), &counted.recount).await {
        let last = counted.last[&lost.uid];
        assert!(last + MAY_GO >= killed, "{lost:?} was answered {:?} before the kill", killed - last);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_keeps_what_was_answered_while_redis_lives() {
    let redis = RedisServer::start(&["--appendonly", "no"]).await;
    let mut stage = Stage::new(&stores(&[redis.url()], false, "memory"), NOON, USERS).await;
    let (load, mut chance) = (load(&mut stage, 2).await, chance());
    for name in ["a", "b", "a"] {
        load.more(1 + chance.below(40)).await;
        stage.fleet.kill(name).await;
        stage.fleet.restart(name).await;
    }
    load.more(20).await;
    stage.agrees(&load.end().await.recount).await;
}

/// The primary dies and never comes back; its replica is promoted and takes its place behind the name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicated_survives_the_loss_of_the_primary_of_a_pair() {
    let (mut first, mut second) = (RedisServer::start(&[]).await, RedisServer::start(&[]).await);
    let mut third = RedisServer::start(&["--repl-diskless-sync-delay", "0"]).await;
    let name = Proxy::start(first.address()).await;
    follow(&second, &first).await;
    let urls = [format!("redis://{}", name.address())];
    let mut stage = Stage::new(&stores(&urls, false, "replicated"), NOON, USERS).await;
    let (load, mut chance) = (load(&mut stage, 1).await, chance());
    load.more(10 + chance.below(40)).await;
    first.kill();
    second.cli(&["REPLICAOF", "NO", "ONE"]).await;
    follow(&third, &second).await;
    name.point_to(second.address());
    load.more(20).await;
    // and once more, at another moment
    load.more(1 + chance.below(40)).await;
    second.kill();
    third.cli(&["REPLICAOF", "NO", "ONE"]).await;
    first.restart().await;
    follow(&first, &third).await;
    name.point_to(third.address());
    load.more(20).await;
    stage.agrees(&load.end().await.recount).await;
    third.kill();
}

/// Three primaries with a replica each; one dies under load, its replica is promoted by the cluster itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicated_survives_the_loss_of_a_primary_of_a_cluster() {
    let mut cluster = RedisCluster::start(1).await;
    let mut stage = Stage::new(&stores(&cluster.urls(), true, "replicated"), NOON, USERS).await;
    let (load, mut chance) = (load(&mut stage, 1).await, chance());
    load.more(10 + chance.below(40)).await;
    cluster.master(1).kill();
    cluster.promoted(1).await;
    // what was promoted has no replica before the one that died is back as its own: nothing counts as stored until then
    cluster.master(1).restart().await;
    load.more(20).await;
    stage.agrees(&load.end().await.recount).await;
}

/// Starts so many daemons and walkers at each.
async fn load(stage: &mut Stage, daemons: usize) -> Load {
    for name in ["a", "b"].into_iter().take(daemons) {
        stage.start(name).await;
    }
    let load = Load::begin(stage.gateways.values().cloned().collect(), 4, USERS, walked_at(), seed());
    load.more(5).await;
    load
}

async fn follow(replica: &RedisServer, primary: &RedisServer) {
    replica.cli(&["REPLICAOF", "127.0.0.1", &primary.port().to_string()]).await;
    until("the replica to follow", MOST, async || {
        replica.cli(&["INFO", "replication"]).await.contains("master_link_status:up").then_some(())
    })
    .await;
}

fn chance() -> Chance {
    Chance::new(!seed())
}

/// The seed of this run, printed so that it can be played again.
fn seed() -> u64 {
    static SEED: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    *SEED.get_or_init(|| {
        let given = rig::from_environment("STEPCAST_TEST_SEED").and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| u64::from(std::process::id()) ^ 0x5eed_0000);
        println!("STEPCAST_TEST_SEED={seed}");
        seed
    })
}
