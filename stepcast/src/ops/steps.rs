use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Query, State},
};
use domain::{Day, Uid};
use serde::Deserialize;
use serde_json::{Value, json};
use step_store::{Add, Added, MOST_STEPS};

use super::OpsState;
use crate::http::{ApiError, MOST_ROWS};

#[derive(Deserialize)]
pub(super) struct Asked {
    uid: String,
    day: Day,
}

/// `GET /ops/v1/steps?uid=&day=`
pub(super) async fn get(
    State(state): State<Arc<OpsState>>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, ApiError> {
    let uid: Uid = asked.uid.parse().map_err(|e: domain::BadUid| ApiError::bad("bad_uid", e.to_string()))?;
    let steps = state.parts.steps.read(uid, asked.day).await?;
    Ok(Json(
        json!({ "key": step_store::key(uid, asked.day), "uid": uid.to_string(), "day": asked.day, "steps": steps }),
    ))
}

/// One row of `POST /ops/v1/steps`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    uid: Uid,
    day: Day,
    steps: u32,
}

/// `POST /ops/v1/steps`, NDJSON of `{uid, day, steps}`, at most 10,000: adds each to the user's day.
pub(super) async fn add(State(state): State<Arc<OpsState>>, body: Bytes) -> Result<Json<Value>, ApiError> {
    let (mut adds, mut places, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    if body.iter().filter(|&&b| b == b'\n').count() > MOST_ROWS {
        return Err(ApiError::too_many_rows());
    }
    for (index, line) in body.split(|&b| b == b'\n').enumerate().filter(|(_, l)| !l.trim_ascii().is_empty()) {
        match serde_json::from_slice::<Row>(line) {
            Ok(Row { uid, day, steps }) => {
                adds.push(Add { uid, day, steps });
                places.push(index);
            }
            Err(fault) => {
                refused.push(json!({ "index": index, "field": "row", "reason": fault.to_string() }))
            }
        }
    }
    let mut stored = 0;
    for (index, added) in places.into_iter().zip(state.parts.steps.add(adds).await?) {
        match added {
            Added::Stored(_) => stored += 1,
            Added::TooMany => {
                let reason = format!("too_many: the day would pass {MOST_STEPS} steps");
                refused.push(json!({ "index": index, "field": "steps", "reason": reason }));
            }
        }
    }
    Ok(Json(json!({ "counts": { "stored": stored }, "refused": refused })))
}
