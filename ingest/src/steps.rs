//! `GET /v1/users/{uid}/steps?day=`.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{Path, Query, State},
};
use directory::Scope;
use domain::{Day, Uid};
use plumbing::http::ApiError;
use serde::{Deserialize, Serialize};
use step_store::Kind;
use utoipa::ToSchema;

use crate::{Edge, caller::Caller, openapi::Error};

#[derive(Deserialize)]
pub(crate) struct Asked {
    day: Option<String>,
}

/// One user's `Day`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Steps {
    uid: String,
    #[schema(value_type = String)]
    day: Day,
    /// The number; null where nobody reported, which is not 0.
    steps: Option<u32>,
    /// What it is made of.
    sources: Vec<Source>,
    /// Whether it is read-only.
    frozen: bool,
}

#[derive(Debug, Serialize, ToSchema)]
struct Source {
    source: String,
    #[schema(value_type = String)]
    kind: &'static str,
    total: u32,
    jumped: bool,
}

/// One user's number of a day, and what it is made of.
#[utoipa::path(
    get,
    path = "/v1/users/{uid}/steps",
    tag = "reports",
    params(("uid" = String, Path, description = "the user", pattern = "^[0-9]{1,19}$"), ("day" = String, Query, description = "a date, such as 20260607", pattern = "^20[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|1[0-9]|2[0-8])$")),
    responses(
        (status = 200, body = Steps, description = "the day"),
        (status = 400, body = Error, description = "a field or the body is wrong"),
        (status = 401, body = Error, description = "no key or token that is known"),
        (status = 403, body = Error, description = "not what this key or token is good for"),
        (status = 404, body = Error, description = "there is no such user"),
        (status = 413, body = Error, description = "the body is too large"),
        (status = 429, body = Error, description = "this caller sends too much: see Retry-After"),
        (status = 503, body = Error, description = "no room, or the store is away: see Retry-After"),
        (status = 507, body = Error, description = "the store is full"),
        (status = 500, body = Error, description = "a fault of the server's own"),
    ),
    security(("bearer" = []))
)]
pub(crate) async fn get(
    State(edge): State<Arc<Edge>>,
    Extension(caller): Extension<Caller>,
    Path(uid): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Json<Steps>, ApiError> {
    let uid: Uid = uid.parse().map_err(|why: domain::BadUid| ApiError::bad("bad_uid", why.to_string()))?;
    caller.may(uid, &[Scope::Reports, Scope::Boards])?;
    let day = asked.day.ok_or_else(|| ApiError::bad("bad_day", "day: a date such as 20260607 is wanted"))?;
    let day: Day =
        day.parse().map_err(|why: domain::BadDay| ApiError::bad("bad_day", format!("day: {why}")))?;
    let home = edge.homes.of(&[uid]).await?.into_iter().next().flatten();
    let home = home.ok_or_else(|| ApiError::absent("unknown_user", "there is no such user"))?;
    let entry = edge.parts.steps.entry(uid, day).await?;
    let freezes = home.zone_on(day).edges(day).map(|edges| edges.freezes);
    let sources = entry.iter().flat_map(|entry| &entry.sources).map(|source| Source {
        source: source.source.to_string(),
        kind: match source.kind {
            Kind::Increments => "increments",
            Kind::Totals => "totals",
        },
        total: source.total,
        jumped: source.jumped,
    });
    Ok(Json(Steps {
        uid: uid.to_string(),
        day,
        steps: entry.as_ref().map(step_store::Entry::number),
        sources: sources.collect(),
        frozen: freezes.is_some_and(|freezes| edge.parts.clock.now() >= freezes),
    }))
}
