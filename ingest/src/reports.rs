//! `POST /v1/reports`.

use std::{fmt, sync::Arc};

use axum::{
    Extension,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::Uid;
use plumbing::http::{ApiError, read_body};
use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    Edge, Reason,
    answer::{self, Result as ItemResult},
    caller::Caller,
    item::{Item, Refused},
    openapi::{Answered, Error, ItemForm},
    placing::Placing,
};

/// The most items of a batch, and the most bytes when they are unpacked (spec).
pub(crate) const MOST_ITEMS: usize = 10_000;
pub(crate) const MOST_BODY: usize = 8 << 20;

/// A JSON array of items, or NDJSON by its content type. Each is answered in its place.
#[utoipa::path(
    post,
    path = "/v1/reports",
    tag = "reports",
    request_body = Vec<ItemForm>,
    responses(
        (status = 200, body = Answered, description = "what came of each item"),
        (status = 400, body = Error, description = "a field or the body is wrong"),
        (status = 401, body = Error, description = "no key or token that is known"),
        (status = 403, body = Error, description = "not what this key or token is good for"),
        (status = 415, body = Error, description = "a content-encoding that is not taken"),
        (status = 413, body = Error, description = "the body is too large"),
        (status = 429, body = Error, description = "this caller sends too much: see Retry-After"),
        (status = 503, body = Error, description = "no room, or the store is away: see Retry-After"),
        (status = 507, body = Error, description = "the store is full"),
        (status = 500, body = Error, description = "a fault of the server's own"),
    ),
    security(("bearer" = []))
)]
pub(crate) async fn post(
    State(edge): State<Arc<Edge>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    caller.may_report()?;
    let answered = answered(&edge, &caller, &headers, body).await;
    if answered.as_ref().is_err_and(|error| matches!(error.status().as_u16(), 429 | 503)) {
        edge.parts.metrics.turned_away();
    }
    let body = answered?;
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], body).into_response())
}

async fn answered(edge: &Edge, caller: &Caller, headers: &HeaderMap, body: Body) -> Result<String, ApiError> {
    // one who has used up what they may send is told before the body is read
    edge.throttle.take(caller, 1)?;
    let whole = read_body(headers, body, MOST_BODY, &edge.budget).await?;
    let text =
        std::str::from_utf8(whole.bytes()).map_err(|_| ApiError::bad("bad_json", "the body is not UTF-8"))?;
    let items = if is_lines(headers) { of_lines(text)? } else { of_array(text)? };
    edge.throttle.take(caller, items.len().saturating_sub(1))?;
    let results = results(edge, caller, items).await?;
    let (body, counts) = answer::body(&results);
    edge.parts.metrics.count(counts, &results);
    Ok(body)
}

/// What came of each item.
async fn results(
    edge: &Edge,
    caller: &Caller,
    items: Vec<Result<Item, Refused>>,
) -> Result<Vec<ItemResult>, ApiError> {
    let own = |item: Result<Item, Refused>| match item {
        Ok(item) if !caller.is_for(item.uid) => Err(Refused { reason: Reason::NotYours, field: Some("uid") }),
        other => other,
    };
    let items: Vec<_> = items.into_iter().map(own).collect();
    let uids: Vec<Uid> = items.iter().filter_map(|item| Some(item.as_ref().ok()?.uid)).collect();
    let mut homes = edge.homes.of(&uids).await?.into_iter();
    let mut placing = Placing::at(edge.parts.clock.now());
    let mut reports = Vec::with_capacity(uids.len());
    let mut place = |item: Item| {
        let unknown = Refused { reason: Reason::UnknownUser, field: Some("uid") };
        let report = placing.report(item, homes.next().flatten().ok_or(unknown)?)?;
        reports.push(report);
        Ok(())
    };
    let placed: Vec<Result<(), Refused>> = items.into_iter().map(|item| item.and_then(&mut place)).collect();
    let mut answers = edge.gatherer.report(reports).await?.into_iter();
    let mut result = |placed: Result<(), Refused>| match placed {
        Ok(()) => answers.next().map(ItemResult::from),
        Err(refused) => Some(ItemResult::Refused(refused)),
    };
    let all: Option<Vec<_>> = placed.into_iter().map(&mut result).collect();
    all.ok_or_else(|| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "store", "a report got no answer"))
}

/// Whether each line is an item.
fn is_lines(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(kind.as_str(), "application/x-ndjson" | "application/ndjson" | "application/jsonl")
}

/// More than may be are only looked through: nothing of them is kept.
fn of_array(text: &str) -> Result<Vec<Result<Item, Refused>>, ApiError> {
    let mut from = serde_json::Deserializer::from_str(text);
    let items = Items::deserialize(&mut from).and_then(|items| from.end().map(|()| items));
    let Items(items) = items.map_err(|why| {
        ApiError::bad("bad_json", format!("the body: a JSON array of items is wanted: {why}"))
    })?;
    check_count(items.len())?;
    Ok(items.into_iter().map(|item| Item::read(item.get())).collect())
}

fn of_lines(text: &str) -> Result<Vec<Result<Item, Refused>>, ApiError> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    check_count(lines().take(MOST_ITEMS + 1).count())?;
    Ok(lines().map(Item::read).collect())
}

fn check_count(count: usize) -> Result<(), ApiError> {
    if count > MOST_ITEMS {
        let message = format!("at most {MOST_ITEMS} items are taken at once");
        return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_many_items", message));
    }
    Ok(())
}

/// The items of an array; of too many one more than may be.
struct Items<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Array;

        impl<'de> Visitor<'de> for Array {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    if items.len() <= MOST_ITEMS {
                        items.push(item);
                    }
                }
                Ok(Items(items))
            }
        }
        from.deserialize_seq(Array)
    }
}
