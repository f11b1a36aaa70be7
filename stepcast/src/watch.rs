//! What watches the program: alive, ready, and figures in the Prometheus text format.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{family::Family, gauge::Gauge},
    registry::Registry,
};
use serde_json::json;

use crate::{
    http::ApiError,
    ops::{OpsState, report},
};

/// `/livez`, `/readyz` and `/metrics`.
pub(crate) fn router(state: Arc<OpsState>) -> Router {
    Router::new()
        .route("/livez", get(|| async { "alive\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(state)
}

/// Ready when every store answers; a store that is away makes the program unready, never dead.
async fn ready(State(state): State<Arc<OpsState>>) -> Response {
    let parts = &state.parts;
    let mut checks = vec![
        ("night_ledger", parts.ledger.nights().await.map(drop)),
        ("directory", parts.directory.zones().await.map(drop)),
    ];
    for name in parts.lines.keys() {
        checks.push(("job_queue", parts.queue.depth(name).await.map(drop)));
    }
    let faults: Vec<_> = checks
        .into_iter()
        .filter_map(|(part, end)| Some(json!({ "part": part, "fault": end.err()?.to_string() })))
        .collect();
    let status = if faults.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({ "ready": faults.is_empty(), "faults": faults }))).into_response()
}

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

#[derive(Default)]
struct Depths {
    batches: Family<QueueLabels, Gauge>,
    users: Family<ChannelLabels, Gauge>,
    oldest: Family<ChannelLabels, Gauge>,
    night: Family<NightLabels, Gauge>,
}

/// Counters of the parts, and gauges read from queue and ledger at this moment, so that they match what those hold.
async fn metrics(State(state): State<Arc<OpsState>>) -> Result<Response, ApiError> {
    let depths = Depths::default();
    for channel in state.parts.lines.keys() {
        let depth = state.parts.queue.depth(channel).await?;
        let of = |state| QueueLabels { channel: channel.to_string(), state };
        let counts = [
            ("ready", depth.ready),
            ("unacked", depth.unacked),
            ("delayed", depth.delayed),
            ("dead", depth.dead),
        ];
        for (name, count) in counts {
            set(&depths.batches.get_or_create(&of(name)), count);
        }
        let labels = ChannelLabels { channel: channel.to_string() };
        set(&depths.users.get_or_create(&labels), depth.users);
        let age = depth.oldest.map_or(0, |at| (chrono::Utc::now() - at).num_seconds().max(0));
        depths.oldest.get_or_create(&labels).set(age);
    }
    for (night, sums) in report::current(&state).await? {
        for (channel, line) in report::by_channel(&sums) {
            let of = |outcome| NightLabels {
                campaign: night.campaign.to_string(),
                day: night.day.to_string(),
                channel: channel.to_string(),
                outcome,
            };
            for (outcome, count) in report::terms(&line) {
                set(&depths.night.get_or_create(&of(outcome)), count);
            }
            depths.night.get_or_create(&of("unknown")).set(line.unknown());
        }
    }
    let mut registry = Registry::with_prefix("stepcast");
    registry.register("queue_batches", "Batches by channel and state", depths.batches);
    registry.register(
        "queue_users",
        "Users in batches that are ready, unacknowledged or delayed",
        depths.users,
    );
    registry.register("queue_oldest_age_seconds", "Age of the oldest ready batch", depths.oldest);
    registry.register(
        "night_users",
        "Users of the current nights by outcome, as the ledger has them",
        depths.night,
    );
    let mut text = String::new();
    let mut whole = String::new();
    // a String takes everything
    let _ = encode(&mut text, &registry);
    let _ = encode(&mut whole, &state.registry);
    let text = text.trim_end().trim_end_matches("# EOF").to_owned() + &whole;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

fn set(gauge: &Gauge, count: u64) {
    gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
}
