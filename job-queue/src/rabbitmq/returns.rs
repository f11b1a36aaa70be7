use std::sync::Arc;

use futures_util::StreamExt;
use plumbing::amqp::{
    Link,
    lapin::{
        Acker, Channel, Consumer,
        options::{BasicCancelOptions, BasicNackOptions},
    },
};
use tokio::{sync::mpsc, time::timeout};

/// What goes back to the broker.
pub(super) enum Return {
    /// A delivery that was dropped.
    Delivery(Acker),
    /// A consumer that was dropped, with what it had not handed out.
    Consumer(Consumer),
}

/// Gives back what is dropped, in a task of its own: a drop cannot wait. Ends, and the AMQP channel with it, when the consumer
/// and all its deliveries are gone. `most` is how many deliveries there can be at a time.
pub(super) fn returner(link: Arc<Link>, channel: Channel, most: usize) -> mpsc::Sender<Return> {
    // one place for each delivery and one for the consumer: there is always room
    let (give, mut given) = mpsc::channel(most + 1);
    tokio::spawn(async move {
        while let Some(back) = given.recv().await {
            match back {
                Return::Delivery(acker) => give_back(&link, &acker).await,
                Return::Consumer(consumer) => end(&link, &channel, consumer).await,
            }
        }
        if channel.status().connected() {
            // what fails here has ended already
            drop(link.answer("closing a channel", channel.close(200, "OK".into())).await);
        }
    });
    give
}

/// Where it fails the AMQP channel is gone, and the delivery is back with it.
async fn give_back(link: &Link, acker: &Acker) {
    let requeue = BasicNackOptions { requeue: true, ..BasicNackOptions::default() };
    if let Err(error) = link.answer("giving back a delivery", acker.nack(requeue)).await {
        tracing::debug!(%error, "a delivery was given back by the end of its channel");
    }
}

/// No more deliveries, and those that nobody took go back.
async fn end(link: &Link, channel: &Channel, mut consumer: Consumer) {
    if channel.status().connected() {
        let cancelled = channel.basic_cancel(consumer.tag(), BasicCancelOptions::default());
        if let Err(error) = link.answer("the end of a consumer", cancelled).await {
            tracing::debug!(%error, "a consumer ended with its channel");
        }
    }
    while let Ok(Some(Ok(delivery))) = timeout(link.limit(), consumer.next()).await {
        give_back(link, &delivery.acker).await;
    }
}
