use domain::ChannelName;
use plumbing::amqp::lapin::{BasicProperties, types::ShortString};

use crate::{Batch, encoding};

/// A message to be published to one queue.
#[derive(Clone, Debug)]
pub(super) struct Message {
    /// Whose queues it goes to; `None` for the dead letters'.
    pub(super) channel: Option<ChannelName>,
    pub(super) queue: ShortString,
    /// Tells it from others that are published with it.
    pub(super) id: ShortString,
    pub(super) properties: BasicProperties,
    pub(super) bytes: Vec<u8>,
}

/// On disk before it is confirmed.
pub(super) const PERSISTENT: u8 = 2;

impl Message {
    /// A batch's message: its bytes, and properties for whoever looks into a queue, such as the type
    /// `nightly 20260607: 995 users`. Nothing in the program reads those.
    pub(super) fn of(batch: &Batch, queue: String, bytes: Vec<u8>) -> Self {
        let id = ShortString::from(batch.id.to_string());
        let what = format!("{} {}: {} users", batch.campaign, batch.day, batch.entries.len());
        let properties = BasicProperties::default()
            .with_delivery_mode(PERSISTENT)
            .with_message_id(id.clone())
            .with_timestamp(u64::try_from(chrono::Utc::now().timestamp()).unwrap_or(0))
            .with_content_type(format!("application/x-stepcast-batch; version={}", encoding::NEWEST).into())
            .with_type(what.into());
        Self { channel: Some(batch.channel.clone()), queue: queue.into(), id, properties, bytes }
    }
}
