use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, Query, State},
};
use job_queue::{DeadId, DeadLetter, encoding};
use plumbing::http::ApiError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::OpsState;

#[derive(Deserialize)]
pub(super) struct Asked {
    after: Option<u64>,
    limit: Option<usize>,
}

/// `GET /ops/v1/dead[?after=][&limit=]`
pub(super) async fn list(
    State(state): State<Arc<OpsState>>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, ApiError> {
    let limit = asked.limit.unwrap_or(50).clamp(1, 1_000);
    let letters = state.parts.queue.dead(asked.after.map(DeadId), limit).await?;
    let shown: Vec<_> = letters.iter().map(|(id, letter)| Value::Object(summary(*id, letter))).collect();
    Ok(Json(json!({ "dead": shown })))
}

/// `GET /ops/v1/dead/ID`: with the users of a batch that can be read, else with the bytes in hexadecimal.
pub(super) async fn show(
    State(state): State<Arc<OpsState>>,
    Path(id): Path<u64>,
) -> Result<Json<Value>, ApiError> {
    let letters = state.parts.queue.dead(id.checked_sub(1).map(DeadId), 1).await?;
    let Some((found, letter)) = letters.into_iter().find(|(found, _)| found.0 == id) else {
        return Err(ApiError::absent("unknown_letter", format!("there is no dead letter {id}")));
    };
    let mut shown = summary(found, &letter);
    match encoding::decode(&letter.bytes) {
        Ok(batch) => {
            let uids: Vec<_> = batch.entries.iter().map(|e| e.uid.to_string()).collect();
            shown.insert("batch".into(), json!(batch.id.to_string()));
            shown.insert("seal".into(), json!(batch.seal().to_string()));
            shown.insert("attempt".into(), json!(batch.attempt));
            shown.insert("uids".into(), json!(uids));
        }
        Err(fault) => {
            shown.insert("fault".into(), json!(fault.to_string()));
            let start = &letter.bytes[..letter.bytes.len().min(4_096)];
            shown.insert("bytes".into(), json!(start.iter().map(|b| format!("{b:02x}")).collect::<String>()));
        }
    }
    Ok(Json(Value::Object(shown)))
}

fn summary(id: DeadId, letter: &DeadLetter) -> serde_json::Map<String, Value> {
    let fields = json!({
        "id": id.0,
        "channel": letter.channel.as_str(),
        "reason": letter.reason.as_str(),
        "detail": letter.detail,
        "at": letter.at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
        "size": letter.bytes.len(),
    });
    match fields {
        Value::Object(fields) => fields,
        _ => serde_json::Map::new(),
    }
}
