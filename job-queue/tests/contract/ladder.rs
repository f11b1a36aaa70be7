//! Waits.

use std::time::{Duration, Instant};

use crate::engine::{Engine, STEPS, batch, channel, empty, id, next, soon, told, until};

pub(crate) async fn a_long_wait_holds_up_no_short_one(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    queue.delay(&batch(&channel, 1), STEPS[2]).await.unwrap();
    let start = Instant::now();
    queue.delay(&batch(&channel, 2), STEPS[0]).await.unwrap();
    let mut consumer = queue.consume(&channel, 5).await.unwrap();
    let short = next(&mut consumer).await;
    assert!(start.elapsed() >= STEPS[0]);
    assert_eq!(id(&short), 2);
    short.acker.ack().await.unwrap();
    let depth = until(&*queue, &channel, |d| told(d.unacked, 0) && d.ready == 0 && d.delayed == 1).await;
    assert!(told(depth.users, 3), "{depth:?}");
}

pub(crate) async fn nothing_comes_before_its_step(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    let start = Instant::now();
    // the third is between two steps, and takes the lower one
    let waits = [STEPS[1], STEPS[0], STEPS[1] - Duration::from_millis(1)];
    for (wait, n) in waits.iter().zip(0..) {
        queue.delay(&batch(&channel, n), *wait).await.unwrap();
    }
    let mut consumer = queue.consume(&channel, 5).await.unwrap();
    let mut seen = vec![];
    for _ in 0..3 {
        let delivery = next(&mut consumer).await;
        let step = if id(&delivery) == 0 { STEPS[1] } else { STEPS[0] };
        assert!(start.elapsed() >= step, "{} after {:?}", id(&delivery), start.elapsed());
        seen.push(id(&delivery));
        delivery.acker.ack().await.unwrap();
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2]);
}

pub(crate) async fn what_is_due_wakes_who_waits(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    queue.delay(&batch(&channel, 0), STEPS[2]).await.unwrap();
    let mut consumer = queue.consume(&channel, 1).await.unwrap();
    let waiting = tokio::spawn(async move { id(&next(&mut consumer).await) });
    queue.delay(&batch(&channel, 1), STEPS[0]).await.unwrap();
    assert_eq!(soon(waiting).await.unwrap(), 1);
}

pub(crate) async fn what_is_due_waits_for_who_comes_later(engine: &dyn Engine) {
    let (queue, channel) = (engine.queue(), channel());
    queue.delay(&batch(&channel, 1), STEPS[0]).await.unwrap();
    let depth = until(&*queue, &channel, |d| d.delayed == 0).await;
    assert!(depth.ready == 1 && told(depth.users, 3), "{depth:?}");
    let mut consumer = queue.consume(&channel, 1).await.unwrap();
    let delivery = next(&mut consumer).await;
    assert_eq!(id(&delivery), 1);
    delivery.acker.ack().await.unwrap();
    until(&*queue, &channel, empty).await;
}
