//! What becomes of things when the broker, or the way to it, does not do as wished.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use job_queue::{Consumer, DeadReason, JobQueue, Ladder, RabbitQueue};
use plumbing::{
    Span,
    amqp::lapin::{
        options::{QueueDeclareOptions, QueueDeleteOptions},
        types::FieldTable,
    },
};

use super::{
    Rabbit,
    proxy::{Proxy, Way},
};
use crate::engine::{Engine, STEPS, batch, batches, channel, drain, id, next, soon, until};

/// The time limits of a queue that goes by the proxy.
const LIMIT: Duration = Duration::from_secs(2);

impl Rabbit {
    /// A queue of its own, by way of a proxy.
    async fn by_proxy(&self) -> (Arc<dyn JobQueue>, Proxy) {
        let place = self.settings.url.strip_prefix("amqp://").unwrap();
        let (place, vhost) = place.split_once('/').unwrap_or((place, ""));
        let proxy = Proxy::before(place.to_owned()).await;
        let mut settings = self.settings.clone();
        settings.url = format!("amqp://{}/{vhost}", proxy.address);
        settings.heartbeat = Span::seconds(1);
        settings.confirm_timeout = Span(LIMIT);
        (RabbitQueue::open(&settings, Ladder::new(STEPS.to_vec()).unwrap()).unwrap(), proxy)
    }

    async fn delete(&self, queue: &str) {
        let on = self.link.channel().await.unwrap();
        let queue = format!("{}.{queue}", self.settings.prefix);
        on.queue_delete(queue.into(), QueueDeleteOptions::default()).await.unwrap();
    }
}

/// A consumer, attached as often as it takes, and what it gets within the time.
async fn attached(queue: &dyn JobQueue, prefetch: usize) -> Box<dyn Consumer> {
    soon(async {
        loop {
            if let Ok(consumer) = queue.consume(&channel(), prefetch).await {
                return consumer;
            }
        }
    })
    .await
}

pub(super) async fn a_consumer_whose_queue_is_deleted_is_told(engine: &Rabbit) {
    let queue = engine.queue();
    let mut consumer = queue.consume(&channel(), 5).await.unwrap();
    engine.delete("stub").await;
    let error = soon(consumer.next()).await.err().unwrap().to_string();
    assert!(error.contains(".stub") && error.contains("deleted"), "{error}");
    let mut consumer = attached(&*queue, 5).await;
    queue.publish(&batches(&channel(), 0..3)).await.unwrap();
    assert_eq!(drain(&mut consumer, 3).await, BTreeSet::from([0, 1, 2]));
}

pub(super) async fn what_is_published_to_a_deleted_queue_gets_there(engine: &Rabbit) {
    let queue = engine.queue();
    queue.publish(&batches(&channel(), 0..1)).await.unwrap();
    queue.delay(&batch(&channel(), 1), STEPS[2]).await.unwrap();
    for gone in ["stub", "stub.wait.600000", "dead"] {
        engine.delete(gone).await;
    }
    let other: domain::ChannelName = "webhook".parse().unwrap();
    queue.publish(&[batch(&other, 1), batch(&channel(), 2), batch(&other, 3)]).await.unwrap();
    queue.delay(&batch(&channel(), 4), STEPS[2]).await.unwrap();
    let mut consumer = queue.consume(&channel(), 5).await.unwrap();
    assert_eq!(drain(&mut consumer, 1).await, BTreeSet::from([2]));
    let mut consumer = queue.consume(&other, 5).await.unwrap();
    assert_eq!(drain(&mut consumer, 2).await, BTreeSet::from([1, 3]));
    until(&*queue, &channel(), |d| (d.ready, d.delayed) == (0, 1)).await;
}

pub(super) async fn calls_that_lose_their_queue_together_all_get_there(engine: &Rabbit) {
    let queue = engine.queue();
    queue.publish(&batches(&channel(), 0..1)).await.unwrap();
    for round in 1..4u128 {
        engine.delete("stub").await;
        let calls = (0..20).map(|n| {
            let queue = Arc::clone(&queue);
            async move {
                queue.publish(&batches(&channel(), round * 1_000 + n * 10..round * 1_000 + n * 10 + 10)).await
            }
        });
        for end in futures_util::future::join_all(calls).await {
            end.unwrap();
        }
        let mut consumer = queue.consume(&channel(), 500).await.unwrap();
        assert_eq!(drain(&mut consumer, 200).await.len(), 200);
    }
}

pub(super) async fn a_queue_with_other_arguments_is_named(engine: &Rabbit) {
    let on = engine.link.channel().await.unwrap();
    let name = format!("{}.stub", engine.settings.prefix);
    let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    on.queue_declare(name.as_str().into(), options, FieldTable::default()).await.unwrap();
    let queue = engine.queue();
    for error in [
        queue.publish(&batches(&channel(), 0..1)).await.unwrap_err(),
        queue.consume(&channel(), 1).await.err().unwrap(),
        queue.depth(&channel()).await.unwrap_err(),
    ] {
        let error = error.to_string();
        assert!(error.contains(&name) && error.contains("other arguments"), "{error}");
    }
    // and it is fine as soon as that is mended
    engine.delete("stub").await;
    queue.publish(&batches(&channel(), 0..1)).await.unwrap();
}

pub(super) async fn what_comes_back_too_often_is_a_dead_letter(engine: &Rabbit) {
    let queue = engine.queue();
    queue.publish(&batches(&channel(), 0..2)).await.unwrap();
    let mut consumer = queue.consume(&channel(), 1).await.unwrap();
    // 1 delivers the last one after 100 returns
    for n in 0..=100 {
        let delivery = next(&mut consumer).await;
        assert_eq!((id(&delivery), delivery.redelivered), (0, n > 0), "{n}");
    }
    let other = next(&mut consumer).await;
    assert_eq!((id(&other), other.redelivered), (1, false));
    until(&*queue, &channel(), |d| d.dead == 1).await;
    let dead = queue.dead(None, 10).await.unwrap();
    let (first, letter) = &dead[0];
    assert_eq!((letter.reason, &letter.channel), (DeadReason::Unworkable, &channel()));
    assert_eq!(letter.bytes, job_queue::encoding::encode(&batch(&channel(), 0)));
    assert!(letter.detail.contains("delivery_limit"), "{}", letter.detail);
    assert!((chrono::Utc::now() - letter.at).num_seconds().abs() < 120, "{}", letter.at);
    assert_eq!(queue.dead(None, 10).await.unwrap(), dead, "it is the same at each reading");
    assert_eq!(queue.take_dead(&[*first]).await.unwrap(), 1);
    assert_eq!(queue.dead(None, 10).await.unwrap(), []);
}

pub(super) async fn readers_of_dead_letters_wait_for_each_other_and_lose_none(engine: &Rabbit) {
    let queue = engine.queue();
    let at = chrono::DateTime::from_timestamp(1_780_862_400, 0).unwrap();
    for n in 0..50u8 {
        let letter = job_queue::DeadLetter::new(channel(), DeadReason::Attempts, "", at, vec![n]);
        queue.bury(letter).await.unwrap();
    }
    let whole = queue.dead(None, 100).await.unwrap();
    assert_eq!(
        whole.iter().map(|(_, letter)| letter.bytes[0]).collect::<Vec<_>>(),
        (0..50).collect::<Vec<_>>()
    );
    // one that is given up in the middle of its work
    for patience in [5, 15, 30, 60] {
        let reading = queue.dead(None, 100);
        drop(tokio::time::timeout(Duration::from_millis(patience), reading).await);
    }
    let ids: Vec<_> = whole.iter().map(|(id, _)| *id).collect();
    let (listed, taken) = tokio::join!(queue.dead(None, 100), queue.take_dead(&ids[10..20]));
    assert_eq!(taken.unwrap(), 10);
    assert!([40, 50].contains(&listed.unwrap().len()));
    let rest: Vec<_> = whole.iter().filter(|(id, _)| !ids[10..20].contains(id)).cloned().collect();
    assert_eq!(queue.dead(None, 100).await.unwrap(), rest);
}

pub(super) async fn a_reader_of_dead_letters_waits_longer_than_for_an_answer(engine: &Rabbit) {
    let on = engine.link.channel().await.unwrap();
    let name = format!("{}.dead.reader", engine.settings.prefix);
    let options = QueueDeclareOptions { exclusive: true, ..QueueDeclareOptions::default() };
    on.queue_declare(name.as_str().into(), options, FieldTable::default()).await.unwrap();
    let queue = engine.queue();
    let mut reading = queue.dead(None, 100);
    assert!(tokio::time::timeout(LIMIT * 2, &mut reading).await.is_err());
    engine.delete("dead.reader").await;
    assert_eq!(soon(reading).await.unwrap(), []);
}

pub(super) async fn a_cut_connection_is_made_again(engine: &Rabbit) {
    let (queue, proxy) = engine.by_proxy().await;
    let mut consumer = attached(&*queue, 5).await;
    queue.publish(&batches(&channel(), 0..2)).await.unwrap();
    let (first, second) = (next(&mut consumer).await, next(&mut consumer).await);
    second.acker.ack().await.unwrap();
    // an acknowledgement has no answer: what is asked after it on the same connection has one, and by then it was heard
    queue.depth(&channel()).await.unwrap();
    proxy.set(Way::Cut);
    assert!(soon(consumer.next()).await.is_err());
    assert!(first.acker.ack().await.is_err(), "there is no channel to acknowledge on");
    let start = Instant::now();
    assert!(queue.publish(&batches(&channel(), 2..3)).await.is_err());
    assert!(queue.depth(&channel()).await.is_err());
    assert!(start.elapsed() < LIMIT * 4, "{:?}", start.elapsed());
    proxy.set(Way::Open);
    queue.publish(&batches(&channel(), 3..4)).await.unwrap();
    drop(consumer);
    let mut consumer = attached(&*queue, 5).await;
    let mut seen = BTreeSet::new();
    while !seen.is_superset(&BTreeSet::from([0, 3])) {
        let delivery = next(&mut consumer).await;
        seen.insert(id(&delivery));
        delivery.acker.ack().await.unwrap();
    }
    assert!(!seen.contains(&1), "it was acknowledged");
}

pub(super) async fn a_black_hole_is_noticed_by_both_sides(engine: &Rabbit) {
    let (queue, proxy) = engine.by_proxy().await;
    let mut consumer = attached(&*queue, 5).await;
    queue.publish(&batches(&channel(), 0..1)).await.unwrap();
    let held = next(&mut consumer).await;
    proxy.set(Way::BlackHole);
    let start = Instant::now();
    let error = queue.publish(&batches(&channel(), 1..2)).await.unwrap_err();
    assert!(start.elapsed() < LIMIT * 2, "{:?}: {error}", start.elapsed());
    let error = soon(consumer.next()).await.err().unwrap();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}: {error}", start.elapsed());
    assert!(held.acker.ack().await.is_err());
    proxy.set(Way::Open);
    let mut consumer = attached(&*queue, 5).await;
    let again = next(&mut consumer).await;
    assert_eq!((id(&again), again.redelivered), (0, true));
    queue.publish(&batches(&channel(), 2..3)).await.unwrap();
}
