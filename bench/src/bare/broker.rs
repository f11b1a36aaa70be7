use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use futures_util::StreamExt;
use lapin::{
    BasicProperties, Channel, Confirmation, Connection, ConnectionProperties, PublisherConfirm,
    options::{
        BasicAckOptions, BasicConsumeOptions, BasicPublishOptions, BasicQosOptions, ConfirmSelectOptions,
    },
    types::FieldTable,
};

/// Messages in flight.
const IN_FLIGHT: usize = 2_000;
/// How long the broker may be silent.
const PATIENCE: Duration = Duration::from_secs(30);

/// A message as it came off a queue, to be published again.
pub(crate) struct Message {
    /// Its bytes.
    pub(crate) body: Vec<u8>,
    properties: BasicProperties,
}

/// Publishes messages to the queue, persistent and confirmed, with 2,000 in flight on one channel; how long it took.
pub(crate) async fn publish(url: &str, queue: &str, messages: &[Message]) -> anyhow::Result<Duration> {
    let (_connection, channel) = channel(url).await?;
    channel.confirm_select(ConfirmSelectOptions::default()).await?;
    let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
    let mut waiting = VecDeque::with_capacity(IN_FLIGHT);
    let begun = Instant::now();
    for Message { body, properties } in messages {
        if waiting.len() == IN_FLIGHT
            && let Some(oldest) = waiting.pop_front()
        {
            confirmed(oldest).await?;
        }
        let properties = properties.clone();
        waiting.push_back(channel.basic_publish("".into(), queue.into(), options, body, properties).await?);
    }
    for confirm in waiting {
        confirmed(confirm).await?;
    }
    Ok(begun.elapsed())
}

/// Takes `count` messages off the queue, which were persistent.
pub(crate) async fn drain(url: &str, queue: &str, count: usize) -> anyhow::Result<Vec<Message>> {
    let (_connection, channel) = channel(url).await?;
    channel.basic_qos(1_000, BasicQosOptions::default()).await?;
    let (options, table) = (BasicConsumeOptions::default(), FieldTable::default());
    let mut consumer = channel.basic_consume(queue.into(), "drain".into(), options, table).await?;
    let mut messages = Vec::with_capacity(count);
    while messages.len() < count {
        let next = tokio::time::timeout(PATIENCE, consumer.next()).await;
        let next =
            next.with_context(|| format!("only {} of {count} messages are in {queue}", messages.len()))?;
        let delivery = next.context("the consumer ended")??;
        let multiple = messages.len() % 500 == 499 || messages.len() + 1 == count;
        ensure!(delivery.properties.delivery_mode() == &Some(2), "a message was not persistent");
        messages.push(Message { body: delivery.data.clone(), properties: delivery.properties.clone() });
        if multiple {
            ensure!(
                delivery.ack(BasicAckOptions { multiple: true }).await?,
                "an acknowledgement was not sent"
            );
        }
    }
    Ok(messages)
}

async fn channel(url: &str) -> anyhow::Result<(Connection, Channel)> {
    let connection = Connection::connect(url, ConnectionProperties::default()).await?;
    let channel = connection.create_channel().await?;
    Ok((connection, channel))
}

async fn confirmed(confirm: PublisherConfirm) -> anyhow::Result<()> {
    match tokio::time::timeout(PATIENCE, confirm).await.context("the broker confirms nothing")?? {
        Confirmation::Ack(None) => Ok(()),
        other => bail!("a message was not taken: {other:?}"),
    }
}
