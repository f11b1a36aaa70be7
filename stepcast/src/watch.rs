//! What watches the program: alive, ready, and figures in the Prometheus text format.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{Day, Uid};
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

/// How long ago the scheduler's last whole tick may be. It writes: so this tells of stores that can only be read, too.
const OLDEST_TICK: f64 = 10.0;

/// Ready when every store answers a read and the scheduler does all of its work; what is away makes the program unready,
/// never dead.
async fn ready(State(state): State<Arc<OpsState>>) -> Response {
    let parts = &state.parts;
    let mut checks = vec![
        ("night_ledger", parts.ledger.nights().await.map(drop)),
        ("directory", parts.directory.zones().await.map(drop)),
    ];
    if let Some(today) = Day::of(state.clock.now().date_naive()) {
        checks.push(("step_store", parts.steps.read(Uid(0), today).await.map(drop)));
    }
    for name in parts.lines.keys() {
        checks.push(("job_queue", parts.queue.depth(name).await.map(drop)));
    }
    let fault = |part: &str, fault: String| json!({ "part": part, "fault": fault });
    let faults = checks.into_iter().filter_map(|(part, end)| Some(fault(part, end.err()?.to_string())));
    let stalled =
        state.scheduler.as_ref().map(scheduler::Metrics::since_last_tick).filter(|s| *s > OLDEST_TICK);
    let stalled = stalled.map(|s| fault("scheduler", format!("its last whole tick was {s:.0} s ago")));
    let faults: Vec<_> = faults.chain(stalled).collect();
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

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use config::Config;
    use plumbing::Clock;
    use serde_json::Value;

    use super::*;
    use crate::program::Program;

    async fn asked(state: &Arc<OpsState>) -> (StatusCode, Value) {
        let answer = ready(State(Arc::clone(state))).await;
        let status = answer.status();
        let body = to_bytes(answer.into_body(), 10_000).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test]
    async fn a_scheduler_that_does_not_get_through_makes_the_program_unready() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::load(None, []).unwrap();
        config.data = folder.path().to_owned();
        let program = Program::open(config, Clock::system()).await.unwrap();
        let mut scheduler = program.whole_scheduler();
        let state = Arc::new(OpsState {
            parts: Arc::clone(&program.parts),
            clock: Arc::clone(&program.clock),
            rehearsal: false,
            scheduler: Some(scheduler.metrics().clone()),
            registry: Registry::default(),
        });
        assert_eq!(asked(&state).await, (StatusCode::OK, json!({ "ready": true, "faults": [] })));
        let last = &scheduler.metrics().last_tick;
        last.set(last.get() - 60.0);
        let (status, answer) = asked(&state).await;
        assert_eq!((status, &answer["ready"]), (StatusCode::SERVICE_UNAVAILABLE, &json!(false)));
        assert_eq!(answer["faults"][0]["part"], "scheduler", "{answer}");
        scheduler.tick(program.clock.now()).await.unwrap();
        assert_eq!(asked(&state).await.0, StatusCode::OK);
    }
}
