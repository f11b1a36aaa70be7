//! What the proof of a night reads: its seals, and each seal's users with their claims.

use std::sync::Arc;

use axum::{
    Json,
    body::Body,
    extract::{Query, State},
    http::{Response, header},
    response::IntoResponse,
};
use domain::{CampaignName, Day, Instant, Night, SealKey, Shard};
use plumbing::http::ApiError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::OpsState;

#[derive(Deserialize)]
pub(super) struct AskedSeals {
    campaign: CampaignName,
    day: Day,
    shard: u32,
}

/// `GET /ops/v1/night/seals?campaign=&day=&shard=`: the night's number of shards, and the instants (Unix seconds) of the
/// seals of this one.
pub(super) async fn seals(
    State(state): State<Arc<OpsState>>,
    Query(asked): Query<AskedSeals>,
) -> Result<Json<Value>, ApiError> {
    let night = Night { campaign: asked.campaign, day: asked.day };
    let ledger = &state.parts.ledger;
    if !ledger.nights().await?.contains(&night) {
        return Err(super::night::unknown(&night));
    }
    let n = ledger.shard_count(&night, state.shards).await?;
    let seals = ledger.seals(&night, Shard(asked.shard)).await?;
    let instants: Vec<_> = seals.iter().map(|(key, _)| key.instant.timestamp()).collect();
    Ok(Json(json!({ "shards": n, "instants": instants })))
}

#[derive(Deserialize)]
pub(super) struct AskedClaims {
    campaign: CampaignName,
    day: Day,
    shard: u32,
    instant: i64,
    #[serde(default)]
    from: usize,
}

/// Users of one answer.
const PAGE: usize = 500_000;
/// Claims read from the ledger at once.
const AT_ONCE: usize = 50_000;
/// Bytes of a user in the answer: the uid, little-endian, and the claim.
pub(crate) const ROW: usize = 9;

/// `GET /ops/v1/night/claims?campaign=&day=&shard=&instant=&from=`: the users of a seal from this position on, up to 500,000,
/// each as its uid (8 bytes, little-endian) and its claim byte. Nothing behind the last.
pub(super) async fn claims(
    State(state): State<Arc<OpsState>>,
    Query(asked): Query<AskedClaims>,
) -> Result<Response<Body>, ApiError> {
    let night = Night { campaign: asked.campaign, day: asked.day };
    let Some(instant) = Instant::from_timestamp(asked.instant, 0) else {
        return Err(ApiError::bad("bad_instant", "instant: Unix seconds are wanted"));
    };
    let key = SealKey { night, shard: Shard(asked.shard), instant };
    let Some(seal) = state.parts.ledger.sealed(&key).await? else {
        return Err(ApiError::absent("unknown_seal", format!("there is no seal {key}")));
    };
    let from = asked.from.min(seal.due.len());
    let to = from.saturating_add(PAGE).min(seal.due.len());
    let mut rows = Vec::with_capacity((to - from) * ROW);
    for start in (from..to).step_by(AT_ONCE) {
        let end = start.saturating_add(AT_ONCE).min(to);
        let positions: Vec<u32> = (start..end).filter_map(|p| u32::try_from(p).ok()).collect();
        let claims = state.parts.ledger.claims(&key, &positions).await?;
        for (due, held) in seal.due[start..end].iter().zip(claims) {
            rows.extend(due.uid.0.to_le_bytes());
            rows.push(held.claim.byte());
        }
    }
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], rows).into_response())
}
