use std::time::Duration;

use super::stage::{Stage, Wanted};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schedulers_killed_between_seal_and_first_batch_and_in_mid_slot_publish_all() {
    let wanted = Wanted {
        at: "2026-06-07T12:59:52Z",
        pace: Duration::from_millis(5),
        change: |setting| (setting.window, setting.shards) = (8, 8),
        ..Wanted::default()
    };
    let mut stage = Stage::new(wanted).await;
    stage.cast(2, 2).await;
    stage.sealed().await;
    assert_eq!(stage.receiver.count(), 0, "the hour came before the kill");
    stage.fleet.kill("scheduler-a").await;
    // the other one has all shards now
    let seen = stage.pushed(400).await;
    stage.fleet.restart("scheduler-a").await;
    stage.pushed(seen + 400).await;
    stage.fleet.kill("scheduler-b").await;
    let before = std::time::Instant::now();
    let seen = stage.receiver.count();
    stage.pushed(seen + 600).await;
    println!("600 pushes more came {:?} after the kill", before.elapsed());
    stage.fleet.restart("scheduler-b").await;
    stage.whole(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scheduler_stopped_past_its_lease_is_taken_over_and_absorbed() {
    let wanted = Wanted {
        pace: Duration::from_millis(5),
        change: |setting| (setting.window, setting.shards) = (6, 4),
        ..Wanted::default()
    };
    let mut stage = Stage::new(wanted).await;
    stage.cast(2, 2).await;
    stage.pushed(200).await;
    // longer than the term of 1 s, twice, each of them once
    for name in ["scheduler-a", "scheduler-b"] {
        stage.fleet.freeze(name, true);
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        stage.fleet.freeze(name, false);
    }
    stage.whole(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_schedulers_for_one_shard_publish_it_once() {
    let wanted = Wanted {
        pace: Duration::from_millis(5),
        change: |setting| (setting.window, setting.shards) = (8, 1),
        ..Wanted::default()
    };
    let mut stage = Stage::new(wanted).await;
    stage.cast(2, 2).await;
    stage.pushed(100).await;
    // each in turn is stopped for about a term, so that now and then both believe that the shard is theirs
    for turn in 0..6 {
        let name = ["scheduler-a", "scheduler-b"][turn % 2];
        stage.fleet.freeze(name, true);
        tokio::time::sleep(Duration::from_millis(900)).await;
        stage.fleet.freeze(name, false);
    }
    stage.whole(0).await;
}
