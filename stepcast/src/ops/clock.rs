use std::sync::Arc;

use axum::{Json, extract::State};
use chrono::Datelike;
use domain::Instant;
use plumbing::http::ApiError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::OpsState;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    to: Instant,
}

/// `POST /ops/v1/clock` with `{"to": "2026-06-07T19:59:50Z"}`: moves the clock, in a rehearsal only.
pub(super) async fn set(
    State(state): State<Arc<OpsState>>,
    Json(asked): Json<Asked>,
) -> Result<Json<Value>, ApiError> {
    if !state.rehearsal {
        return Err(ApiError::bad("no_rehearsal", "the clock is moved only where rehearsal = true"));
    }
    if !(1971..=9998).contains(&asked.to.year()) {
        return Err(ApiError::bad("bad_time", "to: a time from 1971 to 9998 is wanted"));
    }
    state.clock.move_to(asked.to);
    tracing::warn!(to = %asked.to, "the clock was moved");
    Ok(Json(json!({ "now": state.clock.now() })))
}
