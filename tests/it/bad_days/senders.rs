use std::time::Duration;

use rig::{Mode, Proxy, Role, shift_to};

use super::{
    shared_broker,
    stage::{SOON, Stage, Wanted},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sender_killed_at_every_step_loses_nobody() {
    let mut stage = Stage::new(Wanted::default()).await;
    stage.cast(1, 2).await;
    let names = ["sender-a", "sender-b"];
    // between push and record: the provider has them, and no answer is out
    for (kill, name) in names.into_iter().enumerate() {
        let seen = stage.pushed(150 * (kill + 1)).await;
        stage.receiver.hold();
        stage.pushed(seen + 10).await;
        stage.fleet.kill(name).await;
        stage.receiver.release();
        stage.fleet.restart(name).await;
    }
    // between record and acknowledgement: the broker takes nothing, the ledger everything
    let seen = stage.pushed(stage.receiver.count() + 100).await;
    stage.broker.freeze();
    stage.pushed(seen + 40).await;
    stage.fleet.kill("sender-a").await;
    stage.broker.thaw();
    stage.fleet.restart("sender-a").await;
    // and wherever it may be, which is often between claim and push
    for kill in 0_usize..6 {
        stage.pushed(stage.receiver.count() + 40 + 7 * kill).await;
        stage.fleet.kill(names[kill % 2]).await;
        stage.fleet.restart(names[kill % 2]).await;
    }
    // nine kills; and while the receiver held its answers, twice, what either sender had out may have come to its time limit
    let most = (9 + 2 * 2) * stage.setting.in_flight();
    stage.whole(most).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sender_stopped_past_its_lease_books_nothing_that_is_no_longer_its_own() {
    let mut stage = Stage::new(Wanted { pace: Duration::from_millis(60), ..Wanted::default() }).await;
    stage.cast(1, 2).await;
    stage.pushed(200).await;
    stage.receiver.hold();
    stage.pushed(stage.receiver.count() + 10).await;
    stage.fleet.freeze("sender-a", true);
    stage.receiver.release();
    // the term is 4 s; the other one takes over what the stopped one has, and its own goes on
    tokio::time::sleep(Duration::from_secs(6)).await;
    stage.fleet.freeze("sender-a", false);
    let most = 3 * stage.setting.in_flight();
    stage.whole(most).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sender_black_holed_from_the_broker_but_alive_harms_nobody() {
    let mut stage = Stage::new(Wanted::default()).await;
    let line = Proxy::start(stage.broker.address()).await;
    let mut apart = stage.setting.clone();
    apart.queue = format!("amqp://{}/%2f", line.address());
    let shift = stage.fleet.shift().to_owned();
    stage.fleet.start_with("sender-c", Role::Sender, &apart.toml(), &shift).await;
    stage.cast(1, 1).await;
    stage.pushed(300).await;
    line.set(Mode::SILENT);
    let complaint = stage.fleet.unready("sender-c", SOON).await;
    println!("black-holed from the broker: {complaint}");
    stage.closed().await;
    line.set(Mode::Pass);
    let most = 2 * stage.setting.in_flight();
    stage.whole(most).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_outlasts_the_acknowledgement_timeout_comes_to_its_end() {
    let wanted = Wanted {
        users: 2_000,
        pace: Duration::from_millis(250),
        change: |setting| {
            (setting.shards, setting.window, setting.at_once) = (1, 0, 1);
            setting.chunk = 50;
        },
        ..Wanted::default()
    };
    // a thousand users in one batch: five seconds of work, and three are allowed
    let broker = shared_broker::own("consumer_timeout = 3000\n").await;
    let mut stage = Stage::over(wanted, broker).await;
    stage.cast(1, 2).await;
    let most = 10 * stage.setting.in_flight();
    stage.whole(most).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clocks_forty_seconds_apart_send_everybody_one() {
    let mut stage = Stage::new(Wanted::default()).await;
    let (settings, late) = (stage.setting.toml(), stage.fleet.shift().to_owned());
    let early = shift_to("2026-06-07T13:00:37Z");
    for (name, role, shift) in [
        ("sender-a", Role::Sender, &late),
        ("sender-b", Role::Sender, &early),
        ("scheduler-a", Role::Scheduler, &late),
        ("scheduler-b", Role::Scheduler, &early),
    ] {
        stage.fleet.start_with(name, role, &settings, shift).await;
    }
    stage.whole(0).await;
}
