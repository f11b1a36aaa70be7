//! What every engine of the feed's transport promises.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use job_queue::{EmbeddedFeed, Feed, FeedMessage, RabbitFeed};
use tokio::time::timeout;

fn message(part: u32, first: u64) -> FeedMessage {
    FeedMessage {
        part,
        first,
        postings: vec![Bytes::from(format!("{part} {first}")), Bytes::from_static(b"more")],
    }
}

async fn everybody_who_listens_hears_all_in_order(feed: Arc<dyn Feed>) {
    // nobody listens: it is gone
    feed.publish(&[message(1, 1)]).await.unwrap();
    let (mut one, mut two) = (feed.subscribe().await.unwrap(), feed.subscribe().await.unwrap());
    let sent: Vec<_> = (1..=300u64).map(|n| message(u32::try_from(n % 64).unwrap(), n)).collect();
    for messages in sent.chunks(70) {
        feed.publish(messages).await.unwrap();
    }
    feed.publish(&[]).await.unwrap();
    for listening in [&mut one, &mut two] {
        for wanted in &sent {
            let heard = timeout(Duration::from_secs(30), listening.next()).await.unwrap();
            assert_eq!(heard.unwrap(), *wanted);
        }
    }
    drop(one);
    feed.publish(&[message(9, 9)]).await.unwrap();
    assert_eq!(two.next().await.unwrap(), message(9, 9));
}

#[tokio::test]
async fn embedded_everybody_who_listens_hears_all_in_order() {
    everybody_who_listens_hears_all_in_order(Arc::new(EmbeddedFeed::new())).await;
}

#[tokio::test]
async fn embedded_one_that_is_too_slow_is_told_so() {
    let feed = EmbeddedFeed::new();
    let mut slow = feed.subscribe().await.unwrap();
    for first in 0..2_000 {
        feed.publish(&[message(1, first)]).await.unwrap();
    }
    assert!(slow.next().await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn rabbitmq_everybody_who_listens_hears_all_in_order() {
    let settings = crate::rabbitmq::settings("STEPCAST_TEST_AMQP");
    everybody_who_listens_hears_all_in_order(Arc::new(RabbitFeed::open(&settings).unwrap())).await;
}
