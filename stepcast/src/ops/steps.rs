use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::{Query, State},
};
use directory::User;
use domain::{Day, Instant, Uid, Zone};
use plumbing::http::ApiError;
use serde::Deserialize;
use serde_json::{Value, json};
use step_store::{Amount, Kind, MOST_STEPS, Refusal, Report, Reported, Source};

use super::MOST_ROWS;
use super::OpsState;

/// The zone in which a `Day` ends last, 12 h behind UTC: that of users who are not in the directory.
const WESTERNMOST: &str = "Etc/GMT+12";

#[derive(Deserialize)]
pub(super) struct Asked {
    uid: String,
    day: Day,
}

/// `GET /ops/v1/steps?uid=&day=`: the entry; `steps` is null where there is none.
pub(super) async fn get(
    State(state): State<Arc<OpsState>>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, ApiError> {
    let uid: Uid = asked.uid.parse().map_err(|e: domain::BadUid| ApiError::bad("bad_uid", e.to_string()))?;
    let entry = state.parts.steps.entry(uid, asked.day).await?;
    let sources = entry.iter().flat_map(|entry| &entry.sources).map(|source| {
        let kind = match source.kind {
            Kind::Increments => "increments",
            Kind::Totals => "totals",
        };
        json!({ "source": source.source.as_str(), "kind": kind, "total": source.total, "jumped": source.jumped })
    });
    Ok(Json(json!({
        "key": step_store::key(uid, asked.day),
        "uid": uid.to_string(),
        "day": asked.day,
        "steps": entry.as_ref().map(step_store::Entry::number),
        "sources": sources.collect::<Vec<_>>(),
    })))
}

/// One row of `POST /ops/v1/steps`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    uid: Uid,
    day: Day,
    steps: u32,
}

/// `POST /ops/v1/steps`, NDJSON of `{uid, day, steps}`, at most 10,000: each is the total that the source `import` has of the
/// user's day, so that a file that comes twice changes nothing.
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
    let uids: Vec<_> = rows.iter().map(|row| row.uid).collect();
    let users = state.parts.directory.users(&uids).await?;
    let (mut reports, mut reported) = (Vec::new(), Vec::new());
    for ((row, user), index) in rows.into_iter().zip(&users).zip(places) {
        match freezes(user.as_ref(), row.day) {
            Some(freezes) => {
                reports.push(report(&row, freezes));
                reported.push(index);
            }
            None => {
                let reason = "this date never was in the user's zone";
                refused.push(json!({ "index": index, "field": "day", "reason": reason }));
            }
        }
    }
    let (mut stored, mut repeats) = (0, 0);
    for (index, answer) in
        reported.into_iter().zip(state.parts.steps.report(reports, state.clock.now()).await?)
    {
        match answer {
            Reported::Stored(_) => stored += 1,
            Reported::Repeat(_) => repeats += 1,
            Reported::Refused(why) => {
                refused.push(json!({ "index": index, "field": field(why), "reason": reason(why) }));
            }
        }
    }
    Ok(Json(json!({ "counts": { "stored": stored, "repeat": repeats }, "refused": refused })))
}

fn report(row: &Row, freezes: Instant) -> Report {
    Report {
        uid: row.uid,
        day: row.day,
        source: Source::import(),
        amount: Amount::Total(row.steps),
        id: None,
        freezes,
    }
}

/// When a `Day` freezes for a user; `None` for a date that never was in their zone.
fn freezes(user: Option<&User>, day: Day) -> Option<Instant> {
    let zone = match user {
        Some(user) => user.zone_on(day),
        None => WESTERNMOST.parse::<Zone>().ok()?,
    };
    Some(zone.edges(day)?.freezes)
}

fn field(why: Refusal) -> &'static str {
    match why {
        Refusal::TooMany => "steps",
        Refusal::TooLate => "day",
        _ => "uid",
    }
}

fn reason(why: Refusal) -> String {
    match why {
        Refusal::TooMany => format!("{}: the day would pass {MOST_STEPS} steps", why.name()),
        Refusal::TooLate => format!("{}: the day is frozen", why.name()),
        other => other.name().to_owned(),
    }
}
