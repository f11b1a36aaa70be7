use std::{sync::Arc, time::Duration};

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use domain::ChannelName;
use job_queue::Depth;
use night_ledger::{Brakes, StoreError, Sums};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};

use crate::ops::{OpsState, brake, report};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueueLabels {
    channel: String,
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ChannelLabels {
    channel: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct NightLabels {
    campaign: String,
    day: String,
    channel: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BrakeLabels {
    campaign: String,
    day: String,
    /// Empty where it is on the night as a whole.
    zone: String,
    brake: &'static str,
}

/// Gauges read at this moment, so that they match what queue and ledger hold. What cannot be read is absent, not 0.
#[derive(Default)]
struct Gauges {
    batches: Family<QueueLabels, Gauge>,
    users: Family<ChannelLabels, Gauge>,
    oldest: Family<ChannelLabels, Gauge>,
    night: Family<NightLabels, Gauge>,
    brakes: Family<BrakeLabels, Gauge>,
    unread: Gauge,
}

/// The longest that queue and ledger together may take: a scrape waits no longer for servers that are away.
const LONGEST: Duration = Duration::from_secs(8);

/// `GET /metrics`: counters of the parts, and gauges of what queue and ledger hold.
pub(super) async fn metrics(State(state): State<Arc<OpsState>>) -> Response {
    let gauges = Gauges::default();
    let reading = async { tokio::join!(gauges.read_queues(&state), gauges.read_nights(&state)) };
    let unread = match tokio::time::timeout(LONGEST, reading).await {
        Ok((queues, nights)) => queues.is_err() || nights.is_err(),
        Err(_) => true,
    };
    gauges.unread.set(i64::from(unread));
    let mut registry = Registry::with_prefix("stepcast");
    gauges.register(&mut registry);
    if let Some(lookout) = &state.lookout {
        let sound = Gauge::<i64>::default();
        sound.set(i64::from(lookout.fault().is_none()));
        registry.register(
            "stores_sound",
            "1 where the shared stores are set up as they should be, else 0",
            sound,
        );
    }
    let refused = Gauge::<i64>::default();
    refused.set(i64::from(state.parts.queue.refusal().is_some()));
    registry.register("queue_blocked", "1 while the queue takes no batches and says so, else 0", refused);
    let (mut text, mut whole) = (String::new(), String::new());
    // a String takes everything
    let _ = encode(&mut text, &registry);
    let _ = encode(&mut whole, &state.registry);
    let text = text.trim_end().trim_end_matches("# EOF").to_owned() + &whole;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

impl Gauges {
    async fn read_queues(&self, state: &OpsState) -> Result<(), StoreError> {
        for channel in state.parts.lines.keys() {
            self.queue(channel, &state.parts.queue.depth(channel).await?);
        }
        Ok(())
    }

    async fn read_nights(&self, state: &OpsState) -> Result<(), StoreError> {
        for (night, sums) in report::current(state).await? {
            self.night(&night, &sums);
            self.brakes(&night, &state.parts.ledger.brakes(&night).await?);
        }
        Ok(())
    }

    fn queue(&self, channel: &ChannelName, depth: &Depth) {
        let of = |state| QueueLabels { channel: channel.to_string(), state };
        let counts = [
            ("ready", Some(depth.ready)),
            ("unacked", depth.unacked),
            ("delayed", Some(depth.delayed)),
            ("dead", Some(depth.dead)),
        ];
        for (name, count) in counts.into_iter().filter_map(|(name, count)| Some((name, count?))) {
            set(&self.batches.get_or_create(&of(name)), count);
        }
        let labels = ChannelLabels { channel: channel.to_string() };
        if let Some(users) = depth.users {
            set(&self.users.get_or_create(&labels), users);
        }
        // nothing is old where nothing is ready
        if depth.oldest.is_some() || depth.ready == 0 {
            let age = depth.oldest.map_or(0, |at| (chrono::Utc::now() - at).num_seconds().max(0));
            self.oldest.get_or_create(&labels).set(age);
        }
    }

    fn night(&self, night: &domain::Night, sums: &Sums) {
        for (channel, line) in report::by_channel(sums) {
            let of = |outcome| NightLabels {
                campaign: night.campaign.to_string(),
                day: night.day.to_string(),
                channel: channel.to_string(),
                outcome,
            };
            for (outcome, count) in report::terms(&line) {
                set(&self.night.get_or_create(&of(outcome)), count);
            }
            self.night.get_or_create(&of("unknown")).set(line.unknown());
        }
    }

    fn brakes(&self, night: &domain::Night, brakes: &Brakes) {
        let whole = brakes.whole.map(|brake| (String::new(), brake));
        let zones = brakes.zones.iter().map(|(zone, brake)| (zone.name().to_owned(), *brake));
        for (zone, brake) in whole.into_iter().chain(zones) {
            let labels = BrakeLabels {
                campaign: night.campaign.to_string(),
                day: night.day.to_string(),
                zone,
                brake: brake::word(brake),
            };
            self.brakes.get_or_create(&labels).set(1);
        }
    }

    fn register(self, to: &mut Registry) {
        to.register("queue_batches", "Batches by channel and state", self.batches);
        to.register("queue_users", "Users in batches that are ready, unacknowledged or delayed", self.users);
        to.register("queue_oldest_age_seconds", "Age of the oldest ready batch", self.oldest);
        to.register(
            "night_users",
            "Users of the current nights by outcome, as the ledger has them",
            self.night,
        );
        to.register("night_brake", "1 for each brake an operator put on a current night", self.brakes);
        to.register(
            "unread",
            "1 where queue or ledger could not be read for this answer, else 0",
            self.unread,
        );
    }
}

fn set(gauge: &Gauge, count: u64) {
    gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
}
