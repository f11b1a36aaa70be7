//! Order, acknowledgement, redelivery, prefetch.

use crate::engine::{Engine, batch, batches, channel, drain, empty, id, next, soon, told, until};

pub(crate) async fn comes_in_order_and_goes_with_its_acknowledgement(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    assert!(empty(&queue.depth(&channel).await.unwrap()));
    queue.publish(&batches(&channel, 0..2)).await.unwrap();
    queue.publish(&batches(&channel, 2..3)).await.unwrap();
    let depth = until(&*queue, &channel, |d| d.ready == 3).await;
    assert!(told(depth.unacked, 0) && depth.delayed == 0 && told(depth.users, 9), "{depth:?}");
    if let Some(oldest) = depth.oldest {
        let age = chrono::Utc::now() - oldest;
        assert!((0..120).contains(&age.num_seconds()), "{age}");
    }

    let mut consumer = queue.consume(&channel, 10).await.unwrap();
    for expected in 0..3 {
        let delivery = next(&mut consumer).await;
        assert_eq!((id(&delivery), delivery.redelivered), (expected, false));
        assert_eq!(delivery.bytes, job_queue::encoding::encode(&batch(&channel, expected)));
        delivery.acker.ack().await.unwrap();
    }
    until(&*queue, &channel, empty).await;
}

pub(crate) async fn comes_from_a_queue_that_was_made_ready(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    for _ in 0..2 {
        queue.make_ready(std::slice::from_ref(&channel)).await.unwrap();
    }
    // more calls at a time than are made ready for
    let calls = (0..200).map(|id| {
        let (queue, batches) = (engine.queue(), batches(&channel, id..id + 1));
        tokio::spawn(async move { queue.publish(&batches).await.unwrap() })
    });
    for call in calls.collect::<Vec<_>>() {
        soon(call).await.unwrap();
    }
    queue.make_ready(std::slice::from_ref(&channel)).await.unwrap();
    until(&*queue, &channel, |d| d.ready == 200).await;
}

pub(crate) async fn comes_again_first_when_dropped(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    queue.publish(&batches(&channel, 0..3)).await.unwrap();
    let mut consumer = queue.consume(&channel, 1).await.unwrap();
    for _ in 0..3 {
        drop(next(&mut consumer).await);
    }
    let again = next(&mut consumer).await;
    assert_eq!((id(&again), again.redelivered), (0, true));
    again.acker.ack().await.unwrap();
    let fresh = next(&mut consumer).await;
    assert_eq!((id(&fresh), fresh.redelivered), (1, false));
}

pub(crate) async fn comes_again_when_its_task_ends_badly(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    queue.publish(&batches(&channel, 0..2)).await.unwrap();
    let mut consumer = queue.consume(&channel, 2).await.unwrap();
    let (first, second) = (next(&mut consumer).await, next(&mut consumer).await);
    let panicked = tokio::spawn(async move {
        let _held = first;
        panic!("on purpose");
    });
    assert!(panicked.await.unwrap_err().is_panic());
    let aborted = tokio::spawn(async move {
        let _held = second;
        std::future::pending::<()>().await;
    });
    aborted.abort();
    assert!(aborted.await.unwrap_err().is_cancelled());
    let again = [next(&mut consumer).await, next(&mut consumer).await];
    assert!(again.iter().all(|d| d.redelivered));
    assert_eq!(again.iter().map(id).sum::<u128>(), 1);
}

pub(crate) async fn comes_again_when_its_consumer_goes(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    queue.publish(&batches(&channel, 0..1)).await.unwrap();
    let mut gone = queue.consume(&channel, 1).await.unwrap();
    let held = next(&mut gone).await;
    drop((held, gone));
    let mut other = queue.consume(&channel, 1).await.unwrap();
    assert!(next(&mut other).await.redelivered);
}

pub(crate) async fn holds_no_more_than_its_prefetch(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    queue.publish(&batches(&channel, 0..5)).await.unwrap();
    let mut greedy = queue.consume(&channel, 2).await.unwrap();
    let (first, second) = (next(&mut greedy).await, next(&mut greedy).await);
    let third = tokio::spawn(async move { (next(&mut greedy).await, greedy) });

    // the rest is there for others, however long the greedy one waits
    let mut other = queue.consume(&channel, 1).await.unwrap();
    let rest = drain(&mut other, 2).await;
    drop(other);
    assert!(!third.is_finished());
    let depth = until(&*queue, &channel, |d| d.ready == 1).await;
    assert!(told(depth.unacked, 2), "{depth:?}");

    first.acker.ack().await.unwrap();
    let (third, _greedy) = soon(third).await.unwrap();
    assert_eq!(rest.into_iter().chain([id(&second), id(&third)]).sum::<u128>(), 1 + 2 + 3 + 4);
}

pub(crate) async fn wakes_who_waits(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    let other: domain::ChannelName = "webhook".parse().unwrap();
    let mut consumer = queue.consume(&channel, 1).await.unwrap();
    let mut patient = queue.consume(&other, 1).await.unwrap();
    let waiting = tokio::spawn(async move { id(&next(&mut consumer).await) });
    let untouched = tokio::spawn(async move { id(&next(&mut patient).await) });
    queue.publish(&batches(&channel, 7..8)).await.unwrap();
    assert_eq!(soon(waiting).await.unwrap(), 7);
    assert!(!untouched.is_finished(), "a message of one channel went to another");
    queue.publish(&[batch(&other, 8)]).await.unwrap();
    assert_eq!(soon(untouched).await.unwrap(), 8);
}

pub(crate) async fn bytes_that_are_no_batch_come_as_they_are(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    let spaces = vec![b' '; 2_000_000];
    let poison: [&[u8]; 5] = [b"", b"5", b"{\"uid\":", &spaces, &[0, 1, 2, 3]];
    for bytes in poison {
        engine.publish_raw(&channel, bytes).await;
        queue.publish(&batches(&channel, 0..1)).await.unwrap();
    }
    let mut consumer = queue.consume(&channel, 1).await.unwrap();
    for bytes in poison {
        let delivery = next(&mut consumer).await;
        assert_eq!(delivery.bytes, bytes);
        assert!(job_queue::encoding::decode(&delivery.bytes).is_err());
        delivery.acker.ack().await.unwrap();
        let good = next(&mut consumer).await;
        assert_eq!(id(&good), 0);
        good.acker.ack().await.unwrap();
    }
    until(&*queue, &channel, empty).await;
}
