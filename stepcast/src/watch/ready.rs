use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use domain::{Day, Uid};
use futures_util::{FutureExt, future::BoxFuture, future::join_all};
use night_ledger::StoreError;
use sender::Consuming;
use serde_json::{Value, json};

use crate::ops::OpsState;

/// How long ago the scheduler's last whole tick may be. It writes: so this tells of stores that can only be read, too.
const OLDEST_TICK: f64 = 10.0;
/// How long a channel may be without a consumer: one that is lost is attached again at once.
const LONGEST_AWAY: Duration = Duration::from_secs(3);
/// The longest a store or the queue may take to answer.
const LONGEST: Duration = Duration::from_secs(5);

/// `GET /readyz`: ready when every store and the queue answer, shared stores are set up as they should be, the scheduler does
/// all of its work and every channel's queue is consumed. What is away makes the program unready, never dead.
pub(super) async fn ready(State(state): State<Arc<OpsState>>) -> Response {
    let mut faults = join_all(probes(&state).into_iter().map(probed)).await;
    faults.push(lookout(&state));
    faults.push(scheduler(&state));
    faults.push(state.parts.queue.refusal().map(|refusal| fault("job_queue", refusal)));
    let mut faults: Vec<Value> = faults.into_iter().flatten().collect();
    faults.extend(consumers(&state));
    let status = if faults.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({ "ready": faults.is_empty(), "faults": faults }))).into_response()
}

type Probe<'a> = (&'static str, BoxFuture<'a, Result<(), StoreError>>);

/// A read of each store and of each channel's queue.
fn probes(state: &OpsState) -> Vec<Probe<'_>> {
    let parts = &state.parts;
    let mut probes: Vec<Probe<'_>> = vec![
        ("night_ledger", parts.ledger.nights().map(|end| end.map(drop)).boxed()),
        ("directory", parts.directory.zones().map(|end| end.map(drop)).boxed()),
    ];
    if let Some(today) = Day::of(state.clock.now().date_naive()) {
        probes.push(("step_store", parts.steps.entry(Uid(0), today).map(|end| end.map(drop)).boxed()));
    }
    let queues = parts.lines.keys().map(|name| parts.queue.depth(name).map(|end| end.map(drop)).boxed());
    probes.extend(queues.map(|queue| ("job_queue", queue)));
    probes
}

async fn probed((part, probe): Probe<'_>) -> Option<Value> {
    match tokio::time::timeout(LONGEST, probe).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(fault(part, error)),
        Err(_) => Some(fault(part, format!("no answer within {LONGEST:?}"))),
    }
}

fn lookout(state: &OpsState) -> Option<Value> {
    state.lookout.as_ref()?.fault().map(|found| fault("stores", found))
}

fn scheduler(state: &OpsState) -> Option<Value> {
    let since = state.scheduler.as_ref()?.since_last_tick();
    (since > OLDEST_TICK).then(|| fault("scheduler", format!("its last whole tick was {since:.0} s ago")))
}

fn consumers(state: &OpsState) -> Vec<Value> {
    let now = Instant::now();
    let away =
        state.parts.metrics.consumers().into_iter().filter_map(|(channel, consuming)| match consuming {
            Consuming::Away(since) => Some((channel, now.saturating_duration_since(since))),
            Consuming::Attached | Consuming::Resting => None,
        });
    let late = away.filter(|(_, away)| *away > LONGEST_AWAY);
    late.map(|(channel, away)| {
        let seconds = away.as_secs();
        fault("sender", format!("the queue of channel {channel} has had no consumer for {seconds} s"))
    })
    .collect()
}

fn fault(part: &str, fault: impl ToString) -> Value {
    json!({ "part": part, "fault": fault.to_string() })
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use config::Config;
    use plumbing::Clock;
    use prometheus_client::registry::Registry;

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
        let figures = scheduler.metrics().clone();
        let state = Arc::new(OpsState::of(&program, Some(figures), Registry::default()));
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
