//! What takes minutes: `tests/run --long`.

use std::time::{Duration, Instant};

use rig::Mode;

use super::{
    network::{Server, away},
    stage::{Stage, Wanted},
};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: tests/run --long"]
async fn long_a_night_of_200_000_users_with_a_scheduler_and_a_sender_killed_proves_empty() {
    let wanted = Wanted {
        users: 200_000,
        at: "2026-06-07T12:59:30Z",
        pace: Duration::ZERO,
        patience: 10 * MINUTE,
        change: |setting| {
            (setting.window, setting.shards) = (20, 16);
            (setting.chunk, setting.at_once) = (100, 4);
        },
    };
    let mut stage = Stage::new(wanted).await;
    stage.cast(2, 3).await;
    let began = Instant::now();
    stage.pushed(20_000).await;
    stage.fleet.kill("scheduler-a").await;
    stage.pushed(60_000).await;
    stage.fleet.kill("sender-a").await;
    let most = stage.setting.in_flight();
    stage.whole(most).await;
    println!("the night took {:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: tests/run --long"]
async fn long_a_redis_cut_off_for_a_minute_comes_back() {
    away(Server::Redis, Mode::Cut, MINUTE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: tests/run --long"]
async fn long_a_redis_silent_for_a_minute_comes_back() {
    away(Server::Redis, Mode::SILENT, MINUTE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: tests/run --long"]
async fn long_a_broker_cut_off_for_a_minute_comes_back() {
    away(Server::Broker, Mode::Cut, MINUTE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "long: tests/run --long"]
async fn long_a_broker_silent_for_a_minute_comes_back() {
    away(Server::Broker, Mode::SILENT, MINUTE).await;
}
