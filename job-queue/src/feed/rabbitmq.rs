use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt, future::try_join_all};
use plumbing::amqp::{
    AmqpError, AmqpSettings, Broker, Keeper, Link,
    lapin::{
        self, BasicProperties, Channel, Confirmation, ExchangeKind,
        options::{
            BasicAckOptions, BasicConsumeOptions, BasicPublishOptions, BasicQosOptions, ConfirmSelectOptions,
            ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions,
        },
        types::{AMQPValue, FieldTable},
    },
};
use tokio::time::timeout;

use super::{Feed, FeedMessage, Subscription};
use crate::StoreError;

/// Messages that are on their way to one who listens.
const PREFETCH: u16 = 64;
/// Messages, and their bytes, that wait in the broker for one who listens; the oldest beyond them go.
const MOST_WAITING: i64 = 20_000;
const MOST_BYTES: i64 = 64 << 20;

/// The feed on a RabbitMQ broker: the fan-out exchange `<prefix>.feed`, and for each who listens an exclusive queue that goes with
/// its connection. What is published and what is consumed goes by connections of their own.
pub struct RabbitFeed {
    exchange: String,
    publishing: Keeper,
    consuming: Keeper,
    /// The AMQP channel that was published on last, with its connection, unless something went wrong on it.
    lane: Mutex<Option<(Arc<Link>, Channel)>>,
}

struct Listening {
    link: Arc<Link>,
    deliveries: lapin::Consumer,
    _channel: Channel,
}

impl RabbitFeed {
    /// A feed on the broker of these settings. Does not connect yet.
    pub fn open(settings: &AmqpSettings) -> Result<Self, AmqpError> {
        let broker = Arc::new(Broker::new(settings)?);
        Ok(Self {
            exchange: format!("{}.feed", settings.prefix),
            publishing: Keeper::new(Arc::clone(&broker), "stepcast feed publish"),
            consuming: Keeper::new(broker, "stepcast feed consume"),
            lane: Mutex::default(),
        })
    }

    async fn declare(&self, link: &Link, on: &Channel) -> Result<(), AmqpError> {
        let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
        let declared = on.exchange_declare(
            self.exchange.as_str().into(),
            ExchangeKind::Fanout,
            options,
            FieldTable::default(),
        );
        link.answer("the exchange of the feed", declared).await
    }

    /// What to publish on: the one before, or a new one.
    async fn lane(&self) -> Result<(Arc<Link>, Channel), StoreError> {
        let link = self.publishing.link(self.publishing.broker().limit()).await?;
        let kept = self.lane.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((of, channel)) = kept
            && Arc::ptr_eq(&of, &link)
            && channel.status().connected()
        {
            return Ok((of, channel));
        }
        let channel = link.channel().await?;
        let confirmed = channel.confirm_select(ConfirmSelectOptions::default());
        link.answer("confirms", confirmed).await?;
        self.declare(&link, &channel).await?;
        Ok((link, channel))
    }
}

#[async_trait]
impl Feed for RabbitFeed {
    async fn publish(&self, messages: &[FeedMessage]) -> Result<(), StoreError> {
        if messages.is_empty() {
            return Ok(());
        }
        let (link, channel) = self.lane().await?;
        // what is written to a connection that is blocked only piles up
        link.unblocked(link.limit()).await?;
        let sent = async {
            let mut confirms = Vec::with_capacity(messages.len());
            for message in messages {
                // not persistent: the queues that it goes to end with their connections
                let properties = BasicProperties::default().with_type("stepcast.feed".into());
                let body = message.encode();
                let options = BasicPublishOptions::default();
                let (exchange, key) = (self.exchange.as_str().into(), "".into());
                confirms.push(channel.basic_publish(exchange, key, options, &body, properties).await?);
            }
            try_join_all(confirms).await
        };
        let confirmations = timeout(link.limit(), sent)
            .await
            .map_err(|_| link.no_answer("confirms of the feed"))?
            .map_err(|error| AmqpError::refused("publishing to the feed", error))?;
        if confirmations.iter().any(|confirmation| matches!(confirmation, Confirmation::Nack(_))) {
            return Err(StoreError::Unavailable(
                "the broker did not take what the feed published".to_owned(),
            ));
        }
        *self.lane.lock().unwrap_or_else(PoisonError::into_inner) = Some((link, channel));
        Ok(())
    }

    async fn subscribe(&self) -> Result<Box<dyn Subscription>, StoreError> {
        let link = self.consuming.link(self.consuming.broker().limit()).await?;
        let channel = link.channel().await?;
        self.declare(&link, &channel).await?;
        let mut arguments = FieldTable::default();
        arguments.insert("x-max-length".into(), AMQPValue::LongLongInt(MOST_WAITING));
        arguments.insert("x-max-length-bytes".into(), AMQPValue::LongLongInt(MOST_BYTES));
        arguments.insert("x-overflow".into(), AMQPValue::LongString("drop-head".into()));
        let options =
            QueueDeclareOptions { exclusive: true, auto_delete: true, ..QueueDeclareOptions::default() };
        let queue =
            link.answer("a queue of the feed", channel.queue_declare("".into(), options, arguments)).await?;
        let name = queue.name().clone();
        let (exchange, options) = (self.exchange.as_str().into(), QueueBindOptions::default());
        let bound = channel.queue_bind(name.clone(), exchange, "".into(), options, FieldTable::default());
        link.answer("a binding to the feed", bound).await?;
        link.answer("a prefetch", channel.basic_qos(PREFETCH, BasicQosOptions::default())).await?;
        let (options, arguments) = (BasicConsumeOptions::default(), FieldTable::default());
        let consumed = channel.basic_consume(name, "".into(), options, arguments);
        let deliveries = link.answer("a consumer of the feed", consumed).await?;
        Ok(Box::new(Listening { link, deliveries, _channel: channel }))
    }
}

#[async_trait]
impl Subscription for Listening {
    async fn next(&mut self) -> Result<FeedMessage, StoreError> {
        let lost =
            |why: &str| StoreError::Unavailable(format!("the subscription to the feed is lost: {why}"));
        let delivery = match self.deliveries.next().await {
            Some(Ok(delivery)) => delivery,
            Some(Err(error)) => return Err(lost(&error.to_string())),
            None => return Err(lost("the broker ended it")),
        };
        self.link.answer("an acknowledgement", delivery.acker.ack(BasicAckOptions::default())).await?;
        FeedMessage::decode(delivery.data)
    }
}
