use lapin::{BasicProperties, Connection, ConnectionProperties, options::BasicPublishOptions};

use super::stage::{SOON, Stage, Wanted};

/// Puts a message into a queue as it is, as somebody else's client would.
async fn put(url: &str, queue: &str, bytes: &[u8]) {
    let url = url.replace("amqp://", "amqp://guest:guest@");
    let connection = Connection::connect(&url, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    channel.confirm_select(Default::default()).await.unwrap();
    let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
    let properties = BasicProperties::default().with_delivery_mode(2);
    let confirm = channel.basic_publish("".into(), queue.into(), options, bytes, properties).await.unwrap();
    assert!(confirm.await.unwrap().is_ack(), "{queue} did not take it");
    connection.close(200, "done".into()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn poison_of_every_kind_is_buried_once_and_holds_up_nobody() {
    let mut stage = Stage::new(Wanted { at: "2026-06-07T12:59:50Z", ..Wanted::default() }).await;
    stage.cast(1, 2).await;
    stage.fleet.healthy(SOON).await;
    let (mut older, mut newer) = (vec![0], vec![200]);
    older.extend([7; 80]);
    newer.extend([7; 80]);
    let spaces = vec![b' '; 2 << 20];
    let text = br#"{"uid":"1001","campaign":"nightly","day":"20260607"}"#;
    // a true batch up to where it breaks off
    let torn = [1, 232, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 7, b'n', b'i'];
    let poison = [&b""[..], b"5", br#"{"uid":"#, &spaces, text, &older, &newer, &torn];
    let queue = format!("{}.hook", stage.setting.prefix);
    let url = stage.broker.url();
    for bytes in poison {
        put(&url, &queue, bytes).await;
    }
    stage.pushed(500).await;
    for bytes in poison {
        put(&url, &queue, bytes).await;
    }
    stage.closed().await;
    let letters = rig::until("the letters", SOON, async || {
        Some(stage.letters().await).filter(|letters| letters.len() >= 2 * poison.len())
    })
    .await;
    assert_eq!(letters.len(), 2 * poison.len(), "{letters:?}");
    assert!(letters.iter().all(|l| l["reason"] == "malformed" && l["channel"] == "hook"), "{letters:?}");
    let mut sizes: Vec<_> = letters.iter().filter_map(|letter| letter["size"].as_u64()).collect();
    let mut put: Vec<_> =
        [poison, poison].concat().iter().map(|bytes| u64::try_from(bytes.len()).unwrap()).collect();
    sizes.sort_unstable();
    put.sort_unstable();
    assert_eq!(sizes, put, "a letter is not the message that was put into the queue");
    // a malformed one is not replayed
    let replayed = stage.replay("malformed").await;
    assert_eq!(replayed["replayed"], 0, "{replayed}");
    assert_eq!(replayed["refused"]["malformed"], 2 * poison.len(), "{replayed}");
    assert_eq!(stage.letters().await.len(), 2 * poison.len(), "{replayed}");
    stage.whole(0).await;
}

/// More kills than a quorum queue bears deliveries: a message that comes again and again is not dropped in silence.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sender_that_dies_25_times_over_the_same_batches_loses_none_of_them() {
    const KILLS: usize = 25;
    let wanted = Wanted {
        users: 500,
        change: |setting| (setting.window, setting.shards) = (0, 2),
        ..Wanted::default()
    };
    let mut stage = Stage::new(wanted).await;
    stage.cast(1, 1).await;
    stage.receiver.hold();
    stage.pushed(10).await;
    for _ in 0..KILLS {
        stage.fleet.kill("sender-a").await;
        stage.fleet.spawn("sender-a");
        // dies as soon as it consumes
        rig::until("a consumer", SOON, async || {
            stage.fleet.running("sender-a").log().contains("stepcast consume").then_some(())
        })
        .await;
    }
    stage.fleet.kill("sender-a").await;
    stage.receiver.release();
    stage.fleet.restart("sender-a").await;
    let buried = stage.letters().await.len();
    if buried > 0 {
        let replayed = stage.replay("unworkable").await;
        assert_eq!(replayed["replayed"], buried, "{replayed}");
    }
    println!("{buried} batches were buried on the way");
    let (due, silent, most) = (stage.due, stage.silent, (KILLS + 1) * stage.setting.in_flight());
    let shown = stage.proved(most).await;
    // a push that two of them may have made is not made a third time
    let count = |term: &str| shown[term].as_u64().unwrap();
    assert_eq!(
        (count("delivered") + count("uncertain"), count("suppressed")),
        (due - silent, silent),
        "{shown}"
    );
}
