mod asking;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use domain::ChannelName;
use futures_util::{FutureExt, StreamExt};
use plumbing::amqp::{
    Link,
    lapin::{
        self, Channel,
        message::Delivery as Message,
        options::{BasicAckOptions, BasicConsumeOptions, BasicQosOptions},
        types::{AMQPValue, FieldTable},
    },
};
use tokio::sync::mpsc;

use self::asking::{Asking, Question};
use super::{
    returns::{Return, returner},
    topology::Topology,
};
use crate::{Acker, Consumer, Delivery, StoreError};

/// Takes a channel's messages as the broker delivers them, and asks for them while none comes: a broker does not always tell
/// that a consumer is gone, not where its queue was deleted and another of that name stood there at once.
pub(super) struct RabbitConsumer {
    topology: Arc<Topology>,
    link: Arc<Link>,
    channel: Channel,
    queue: String,
    /// `None` once it is given to the returner.
    deliveries: Option<lapin::Consumer>,
    back: mpsc::Sender<Return>,
    held: Arc<AtomicUsize>,
    asking: Asking,
}

/// A message that was taken. It goes back unless it is acknowledged, whatever becomes of the task that has it.
struct Held {
    link: Arc<Link>,
    acker: lapin::Acker,
    settled: bool,
    back: mpsc::Sender<Return>,
    held: Arc<AtomicUsize>,
}

impl RabbitConsumer {
    pub(super) async fn attach(
        link: Arc<Link>,
        topology: &Arc<Topology>,
        name: &ChannelName,
        prefetch: usize,
    ) -> Result<Self, StoreError> {
        topology.declare(&link, name).await?;
        let queue = topology.names().work(name)?;
        let channel = link.channel().await?;
        let prefetch = u16::try_from(prefetch.max(1)).unwrap_or(u16::MAX);
        link.answer("a prefetch", channel.basic_qos(prefetch, BasicQosOptions::default())).await?;
        let (options, arguments) = (BasicConsumeOptions::default(), FieldTable::default());
        let consumed = channel.basic_consume(queue.as_str().into(), "".into(), options, arguments);
        let deliveries = link.answer("a consumer", consumed).await?;
        let back = returner(Arc::clone(&link), channel.clone(), usize::from(prefetch));
        Ok(Self {
            topology: Arc::clone(topology),
            link,
            channel,
            queue,
            deliveries: Some(deliveries),
            back,
            held: Arc::default(),
            asking: Asking::new(),
        })
    }

    fn hand_out(&mut self, message: Message) -> Delivery {
        self.asking.delivered();
        self.held.fetch_add(1, Ordering::AcqRel);
        let redelivered = message.redelivered || counted(&message);
        let Message { acker, data, .. } = message;
        let (link, back, held) = (Arc::clone(&self.link), self.back.clone(), Arc::clone(&self.held));
        Delivery {
            bytes: data,
            redelivered,
            acker: Box::new(Held { link, acker, settled: false, back, held }),
        }
    }

    /// That `ready` messages wait: an error where they ought to have been delivered here.
    fn heard(&mut self, ready: u64) -> Result<(), StoreError> {
        let idle = self.held.load(Ordering::Acquire) == 0;
        match self.asking.forgotten(ready, idle) {
            false => Ok(()),
            true => Err(self.lost("the broker has messages and delivers none")),
        }
    }

    fn lost(&self, why: &str) -> StoreError {
        StoreError::Unavailable(format!("the consumer of queue {:?} is lost: {why}", self.queue))
    }
}

#[async_trait]
impl Consumer for RabbitConsumer {
    async fn next(&mut self) -> Result<Delivery, StoreError> {
        loop {
            let Some(deliveries) = &mut self.deliveries else { return Err(self.lost("it has ended")) };
            let (topology, link, channel, queue) = (&self.topology, &self.link, &self.channel, &self.queue);
            let ask = || question(topology, link, channel, queue);
            tokio::select! {
                biased;
                next = deliveries.next() => return match next {
                    Some(Ok(message)) => Ok(self.hand_out(message)),
                    Some(Err(error)) => Err(self.lost(&error.to_string())),
                    None => Err(self.lost("the broker cancelled it, as when its queue is deleted")),
                },
                ready = self.asking.answer(ask) => self.heard(ready?)?,
            }
        }
    }
}

impl Drop for RabbitConsumer {
    fn drop(&mut self) {
        if let Some(consumer) = self.deliveries.take() {
            // there is room; without a returner the channel has ended
            drop(self.back.try_send(Return::Consumer(consumer)));
        }
    }
}

#[async_trait]
impl Acker for Held {
    async fn ack(mut self: Box<Self>) -> Result<(), StoreError> {
        let acknowledged = self.acker.ack(BasicAckOptions::default());
        match self.link.answer("an acknowledgement", acknowledged).await? {
            true => {
                self.settled = true;
                Ok(())
            }
            false => Err(StoreError::Unavailable("the AMQP channel of the delivery has ended".to_owned())),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.held.fetch_sub(1, Ordering::AcqRel);
        if !self.settled {
            drop(self.back.try_send(Return::Delivery(self.acker.clone())));
        }
    }
}

/// How many messages are ready in the queue, which is declared anew where it is gone.
fn question(topology: &Arc<Topology>, link: &Arc<Link>, channel: &Channel, queue: &str) -> Question {
    let (topology, link) = (Arc::clone(topology), Arc::clone(link));
    let (channel, queue) = (channel.clone(), queue.to_owned());
    async move { topology.count_work(&link, &channel, &queue).await }.boxed()
}

/// Whether a quorum queue counted an earlier delivery.
fn counted(message: &Message) -> bool {
    let headers = message.properties.headers().as_ref();
    match headers.and_then(|headers| headers.inner().get("x-delivery-count")) {
        Some(AMQPValue::LongLongInt(count)) => *count > 0,
        Some(AMQPValue::LongInt(count)) => *count > 0,
        Some(AMQPValue::LongUInt(count)) => *count > 0,
        Some(AMQPValue::ShortInt(count)) => *count > 0,
        Some(AMQPValue::ShortShortUInt(count)) => *count > 0,
        _ => false,
    }
}
