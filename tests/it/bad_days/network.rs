use std::time::Duration;

use rig::{Mode, Proxy, RedisServer};

use super::{
    shared_broker,
    stage::{SOON, Stage, Wanted},
};

/// Which server is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Server {
    Redis,
    Broker,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_is_cut_off_comes_back() {
    away(Server::Redis, Mode::Cut, Duration::from_secs(6)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_falls_silent_comes_back() {
    away(Server::Redis, Mode::SILENT, Duration::from_secs(8)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_is_cut_off_comes_back() {
    away(Server::Broker, Mode::Cut, Duration::from_secs(6)).await;
}

/// Longer than twice the heartbeat of 2 s.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_falls_silent_comes_back() {
    away(Server::Broker, Mode::SILENT, Duration::from_secs(10)).await;
}

/// Requests arrive and answers do not: what was done is not known to have been.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_whose_answers_are_lost_is_asked_again() {
    away(Server::Redis, Mode::BlackHole { up: false, down: true }, Duration::from_secs(6)).await;
}

/// A night in which a server is out of everybody's reach for so long.
pub(super) async fn away(server: Server, mode: Mode, so_long: Duration) {
    let broker = shared_broker::shared().await;
    let redis = RedisServer::start(&[]).await;
    let line = Proxy::start(if server == Server::Redis { redis.address() } else { broker.address() }).await;
    let store = if server == Server::Redis { line.address() } else { redis.address() };
    let queue = if server == Server::Broker { line.address() } else { broker.address() };
    let (stores, queue) = (vec![format!("redis://{store}")], format!("amqp://{queue}/%2f"));
    let wanted = Wanted { change: |setting| setting.window = 5, ..Wanted::default() };
    let mut stage = Stage::set(wanted, broker, Some(redis), stores, &queue).await;
    stage.cast(2, 2).await;
    stage.pushed(300).await;
    line.set(mode);
    let until = tokio::time::Instant::now() + so_long;
    for name in ["scheduler-a", "sender-a"] {
        let complaint = stage.fleet.unready(name, SOON).await;
        println!("{server:?} {mode:?}, {name}: {complaint}");
    }
    tokio::time::sleep_until(until).await;
    line.set(Mode::Pass);
    stage.fleet.healthy(SOON).await;
    let most = 4 * stage.setting.in_flight();
    stage.whole(most).await;
}
