use std::time::Duration;

use rig::until;
use serde_json::Value;

use super::stage::{SOON, Stage, Wanted};
use crate::DAY;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_killed_and_started_again_loses_nothing_that_it_confirmed() {
    let wanted = Wanted { change: |setting| setting.window = 6, ..Wanted::default() };
    let mut stage = Stage::new(wanted).await;
    stage.cast(2, 2).await;
    stage.pushed(300).await;
    stage.broker.kill();
    let complaint = stage.fleet.unready("scheduler-a", SOON).await;
    println!("without the broker: {complaint}");
    stage.fleet.unready("sender-a", SOON).await;
    stage.broker.restart().await;
    stage.fleet.healthy(SOON).await;
    let most = 2 * stage.setting.in_flight();
    stage.whole(most).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_deleted_under_its_consumers_is_declared_and_consumed_again() {
    let mut stage = Stage::new(Wanted { at: "2026-06-07T12:59:45Z", ..Wanted::default() }).await;
    stage.cast(1, 2).await;
    stage.fleet.healthy(SOON).await;
    let queue = format!("{}.hook", stage.setting.prefix);
    stage.broker.delete_queue(&queue).await;
    until("both senders to consume again", SOON, async || {
        let consumers = stage.broker.ctl(&["list_queues", "--no-table-headers", "name", "consumers"]).await;
        consumers
            .lines()
            .any(|line| line.split_once('\t').is_some_and(|(n, c)| n == queue && c.trim() == "2"))
            .then_some(())
    })
    .await;
    stage.whole(0).await;
}

/// What a deleted queue held is gone: nobody can send it. It is not forgotten either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_deleted_queue_held_is_counted_as_never_worked() {
    let mut stage = Stage::new(Wanted { pace: Duration::from_millis(150), ..Wanted::default() }).await;
    stage.cast(1, 1).await;
    stage.pushed(200).await;
    stage.broker.delete_queue(&format!("{}.hook", stage.setting.prefix)).await;
    stage.fleet.healthy(SOON).await;
    // until nothing comes any more: the batches that were left in the queue are gone with it
    stage.quiet(Duration::from_secs(8)).await;
    for (_, running) in stage.fleet.all() {
        running.move_clock("2026-06-07T15:00:30Z").await;
    }
    let (due, silent, in_flight) = (stage.due, stage.silent, stage.setting.in_flight());
    let shown = stage.proved(2 * in_flight).await;
    let count = |term: &str| shown[term].as_u64().unwrap();
    assert!(count("expired") > 0, "the queue was empty when it was deleted: {shown}");
    assert_eq!(shown["reasons"]["never_worked"], shown["expired"], "{shown}");
    assert_eq!(
        count("delivered") + count("suppressed") + count("expired") + count("uncertain"),
        due,
        "{shown}"
    );
    assert!(count("suppressed") <= silent, "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn channels_and_connections_closed_by_the_broker_are_opened_again() {
    // slow enough that the night outlasts two faults
    let mut stage = Stage::new(Wanted { pace: Duration::from_millis(400), ..Wanted::default() }).await;
    stage.cast(1, 2).await;
    stage.pushed(150).await;
    stage.broker.close_consuming_channels().await;
    stage.pushed(stage.receiver.count() + 150).await;
    assert!(stage.broker.close_connections().await > 0, "nobody was connected");
    stage.pushed(stage.receiver.count() + 50).await;
    stage.receiver.pace(Duration::from_millis(5));
    stage.whole(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_memory_alarm_is_told_waited_for_and_no_reason_not_to_stop() {
    let wanted = Wanted {
        at: "2026-06-07T12:59:55Z",
        pace: Duration::from_millis(10),
        change: |setting| (setting.window, setting.shards) = (12, 2),
        ..Wanted::default()
    };
    let mut stage = Stage::new(wanted).await;
    stage.cast(2, 1).await;
    stage.pushed(100).await;
    stage.broker.raise_alarm().await;
    // one of them may have nothing to publish
    let (blocked, complaint) = stage.fleet.first_unready(&["scheduler-a", "scheduler-b"], SOON).await;
    assert!(complaint.contains("block"), "it does not say that publishers are blocked: {complaint}");
    // what was in the queue is worked on: consumers have a connection of their own
    stage.quiet(Duration::from_secs(3)).await;
    let night = stage.fleet.night("nightly", DAY).await.unwrap_or(Value::Null);
    assert!(night["open"].as_u64().unwrap() > 0, "the night was over before the alarm: {night}");
    // the blocked one ends in its time
    stage.fleet.stop(blocked).await;
    stage.broker.clear_alarm().await;
    stage.fleet.restart(blocked).await;
    let most = stage.setting.in_flight();
    stage.whole(most).await;
}
