use std::{collections::BTreeMap, sync::Arc};

use axum::{Json, body::Bytes, extract::State};
use directory::{Applied, Column, StoreError, parse_line};
use domain::{Shard, ShardCount};
use plumbing::http::ApiError;
use serde_json::{Value, json};

use super::MOST_ROWS;
use super::OpsState;

/// `POST /ops/v1/users`, NDJSON of users, at most 10,000: applied in order, each whole or not at all.
pub(super) async fn users(State(state): State<Arc<OpsState>>, body: Bytes) -> Result<Json<Value>, ApiError> {
    let (mut changes, mut places, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    if body.iter().filter(|&&b| b == b'\n').count() > MOST_ROWS {
        return Err(ApiError::too_many_rows(MOST_ROWS));
    }
    for (index, line) in body.split(|&b| b == b'\n').enumerate().filter(|(_, l)| !l.trim_ascii().is_empty()) {
        match parse_line(line) {
            Ok(change) => {
                changes.push(change);
                places.push(index);
            }
            Err(fault) => {
                refused.push(json!({ "index": index, "field": fault.field, "reason": fault.reason }))
            }
        }
    }
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let applied = state.parts.directory.apply(changes, state.clock.now()).await?;
    for (index, applied) in places.into_iter().zip(applied) {
        let name = match applied {
            Applied::Created => "created",
            Applied::Updated => "updated",
            Applied::Unchanged => "unchanged",
            Applied::Deleted => "deleted",
            Applied::Absent => "absent",
            Applied::Refused(fault) => {
                refused.push(json!({ "index": index, "field": fault.field, "reason": fault.reason }));
                continue;
            }
        };
        *counts.entry(name).or_default() += 1;
    }
    Ok(Json(json!({ "counts": counts, "refused": refused })))
}

/// `GET /ops/v1/users/census[?shards=N]`: users by shard, and how uneven that is: the largest over the mean.
pub(super) async fn census(
    State(state): State<Arc<OpsState>>,
    axum::extract::Query(asked): axum::extract::Query<Asked>,
) -> Result<Json<Value>, ApiError> {
    let n = asked.shards;
    let (counting, runtime) = (Arc::clone(&state), tokio::runtime::Handle::current());
    // away from those that answer others: it goes over all users
    let counted = tokio::task::spawn_blocking(move || runtime.block_on(count(&counting, n))).await;
    let shards =
        counted.map_err(|end| StoreError::Unavailable(format!("the count ended early: {end}")))??;
    let users: u64 = shards.iter().sum();
    let most = shards.iter().max().copied().unwrap_or(0);
    #[allow(clippy::cast_precision_loss, reason = "a ratio for people to read")]
    let skew = if users == 0 { 1.0 } else { most as f64 * shards.len() as f64 / users as f64 };
    Ok(Json(json!({ "users": users, "shards": shards, "skew": skew })))
}

/// The users of each shard.
async fn count(state: &OpsState, n: ShardCount) -> Result<Vec<u64>, StoreError> {
    let mut column = Column::default();
    column.refresh(state.parts.directory.as_ref(), state.clock.now()).await?;
    let mut shards = vec![0u64; usize::try_from(n.get()).unwrap_or(1)];
    column.each(|row| shards[usize::try_from(Shard::of(row.uid, n).0).unwrap_or(0)] += 1);
    Ok(shards)
}

#[derive(serde::Deserialize)]
pub(super) struct Asked {
    shards: ShardCount,
}
