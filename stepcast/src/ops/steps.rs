use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Query, State},
};
use domain::{Day, Uid};
use plumbing::http::ApiError;
use serde::Deserialize;
use serde_json::{Value, json};
use step_store::{Entry, MOST_STEPS, Refusal, Report, Reported};

use super::{MOST_ROWS, OpsState};
use crate::freezes::{freezes, freezes_everywhere};

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
    let entry = state.parts.steps.entry(uid, asked.day).await?;
    Ok(Json(json!({
        "key": step_store::key(uid, asked.day),
        "uid": uid.to_string(),
        "day": asked.day,
        "steps": entry.as_ref().map(Entry::number),
        "sources": entry.as_ref().map(sources),
    })))
}

fn sources(entry: &Entry) -> Vec<Value> {
    let shown = entry.sources.iter().map(|one| {
        json!({ "source": one.source.as_str(), "kind": one.kind.name(), "total": one.total, "jumped": one.jumped })
    });
    shown.collect()
}

/// One row of `POST /ops/v1/steps`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    uid: Uid,
    day: Day,
    steps: u32,
}

/// `POST /ops/v1/steps`, NDJSON of `{uid, day, steps}`, at most 10,000: each is the total of the user's day under the source
/// `import`. Given twice it is the same.
pub(super) async fn add(State(state): State<Arc<OpsState>>, body: Bytes) -> Result<Json<Value>, ApiError> {
    let (mut rows, mut places, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    if body.iter().filter(|&&b| b == b'\n').count() > MOST_ROWS {
        return Err(ApiError::too_many_rows(MOST_ROWS));
    }
    for (index, line) in body.split(|&b| b == b'\n').enumerate().filter(|(_, l)| !l.trim_ascii().is_empty()) {
        match serde_json::from_slice::<Row>(line) {
            Ok(row) => {
                rows.push(row);
                places.push(index);
            }
            Err(fault) => {
                refused.push(json!({ "index": index, "field": "row", "reason": fault.to_string() }))
            }
        }
    }
    let uids: Vec<Uid> = rows.iter().map(|row| row.uid).collect();
    let users = state.parts.directory.users(&uids).await?;
    let reports = rows.iter().zip(users).map(|(row, user)| {
        let frozen =
            user.map_or_else(|| freezes_everywhere(row.day), |user| freezes(user.zone_on(row.day), row.day));
        Report::imported(row.uid, row.day, row.steps, frozen)
    });
    let reports = reports.collect();
    let (mut stored, mut repeats) = (0, 0);
    for (index, reported) in
        places.into_iter().zip(state.parts.steps.report(reports, state.clock.now()).await?)
    {
        match reported {
            Reported::Stored(_) => stored += 1,
            Reported::Repeat(_) => repeats += 1,
            Reported::Refused(refusal) => {
                let (field, reason) = said(refusal);
                refused.push(json!({ "index": index, "field": field, "reason": reason }));
            }
        }
    }
    Ok(Json(json!({ "counts": { "stored": stored, "repeats": repeats }, "refused": refused })))
}

/// The field that a refusal is about, and what is said of it.
fn said(refusal: Refusal) -> (&'static str, String) {
    let (field, why) = match refusal {
        Refusal::TooMany => ("steps", format!("the day would pass {MOST_STEPS} steps")),
        Refusal::TooLate => ("day", "the day is frozen".to_owned()),
        Refusal::MixedKind => ("steps", "import has given increments for the day".to_owned()),
        Refusal::TooManySources => ("day", "the day has as many sources as it may have".to_owned()),
        Refusal::TooManyReports => ("uid", "the user has given too many ids".to_owned()),
        Refusal::Erased => ("uid", "the user was erased a moment ago".to_owned()),
        Refusal::Unreadable => ("day", "what the store has of the day cannot be read".to_owned()),
    };
    (field, format!("{}: {why}", refusal.name()))
}
