use std::collections::BTreeMap;

use domain::ChannelName;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

use crate::consuming::{Consumers, Consuming};

/// Figures of a sender since its start, by channel.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    pushes: Family<PushLabels, Counter>,
    claims: Family<ChannelLabels, Counter>,
    batches: Family<PushLabels, Counter>,
    duplicates: Family<ChannelLabels, Counter>,
    attached: Family<ChannelLabels, Gauge>,
    members: Gauge,
    consumers: Consumers,
}

/// A channel and what came of a push or batch on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PushLabels {
    channel: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ChannelLabels {
    channel: String,
}

impl Metrics {
    /// Registers them, with names that start with `stepcast_sender_`.
    pub fn register(&self, registry: &mut Registry) {
        let to = registry.sub_registry_with_prefix("stepcast_sender");
        to.register("users", "Users worked, by what came of them", self.pushes.clone());
        to.register("claims", "Users claimed", self.claims.clone());
        to.register(
            "claims_taken_over",
            "Claims whose push may have been taken before",
            self.duplicates.clone(),
        );
        to.register("batches", "Deliveries worked, by what came of them", self.batches.clone());
        to.register("consumers", "1 where the channel's queue is consumed, else 0", self.attached.clone());
        to.register("members", "Senders alive, this one included", self.members.clone());
    }

    /// How each channel's queue is consumed, since [`crate::run`] began.
    pub fn consumers(&self) -> BTreeMap<ChannelName, Consuming> {
        self.consumers.all()
    }

    /// Notes a change in how a channel's queue is consumed.
    pub(crate) fn consuming(&self, channel: &ChannelName, now: Consuming) {
        let labels = ChannelLabels { channel: channel.to_string() };
        self.attached.get_or_create(&labels).set(i64::from(now == Consuming::Attached));
        self.consumers.set(channel, now);
    }

    /// Notes how many senders live.
    pub(crate) fn members(&self, live: usize) {
        self.members.set(i64::try_from(live).unwrap_or(i64::MAX));
    }

    pub(crate) fn users(&self, channel: &ChannelName, outcome: &'static str, count: u64) {
        let labels = PushLabels { channel: channel.to_string(), outcome };
        self.pushes.get_or_create(&labels).inc_by(count);
    }

    pub(crate) fn claimed(&self, channel: &ChannelName, count: u64, again: u64) {
        let labels = ChannelLabels { channel: channel.to_string() };
        self.claims.get_or_create(&labels).inc_by(count);
        if again > 0 {
            self.duplicates.get_or_create(&labels).inc_by(again);
        }
    }

    pub(crate) fn batch(&self, channel: &ChannelName, outcome: &'static str) {
        let labels = PushLabels { channel: channel.to_string(), outcome };
        self.batches.get_or_create(&labels).inc();
    }
}
