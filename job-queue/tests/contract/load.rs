//! Many messages, and callers that change their mind.

use std::collections::BTreeSet;

use tokio::task::{JoinSet, yield_now};

use crate::engine::{Engine, batches, channel, empty, id, next, soon, until};

pub(crate) async fn ten_thousand_go_through_once_each(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    let publisher = tokio::spawn({
        let (queue, channel) = (engine.queue(), channel.clone());
        async move {
            for start in (0..10_000).step_by(500) {
                queue.publish(&batches(&channel, start..start + 500)).await.unwrap();
            }
        }
    });
    let mut consumers = JoinSet::new();
    let (seen, mut arrivals) = tokio::sync::mpsc::channel(64);
    for _ in 0..4 {
        let mut consumer = queue.consume(&channel, 200).await.unwrap();
        let seen = seen.clone();
        consumers.spawn(async move {
            loop {
                let delivery = next(&mut consumer).await;
                assert!(!delivery.redelivered);
                let seen = seen.clone();
                // as many at a time as the prefetch allows
                tokio::spawn(async move {
                    let id = id(&delivery);
                    delivery.acker.ack().await.unwrap();
                    seen.send(id).await.unwrap();
                });
            }
        });
    }
    let mut ids = BTreeSet::new();
    while ids.len() < 10_000 {
        assert!(ids.insert(soon(arrivals.recv()).await.unwrap()));
    }
    publisher.await.unwrap();
    until(&*queue, &channel, empty).await;
}

pub(crate) async fn giving_up_on_the_next_one_loses_nothing(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    let mut consumer = queue.consume(&channel, 3).await.unwrap();
    let publisher = tokio::spawn({
        let (queue, channel) = (engine.queue(), channel.clone());
        async move {
            for id in 0..200 {
                queue.publish(&batches(&channel, id..id + 1)).await.unwrap();
            }
        }
    });
    let mut seen = BTreeSet::new();
    let mut given_up = 0;
    while seen.len() < 200 {
        tokio::select! {
            biased;
            delivery = consumer.next() => {
                let delivery = delivery.unwrap();
                assert!(seen.insert(id(&delivery)));
                soon(delivery.acker.ack()).await.unwrap();
            }
            () = yield_now() => given_up += 1,
        }
    }
    assert!(given_up > 0, "no wait was ever given up");
    publisher.await.unwrap();
    until(&*queue, &channel, empty).await;
}
