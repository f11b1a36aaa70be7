//! `PUT`, `GET`, `PATCH` and `DELETE` of `/v1/users/{uid}`, and of one device.

mod forms;

use std::sync::Arc;

use axum::{
    Extension, Json,
    body::Bytes,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use directory::{Applied, Change, Refusal, Scope, UserPatch};
use domain::{ChannelName, Uid};
use plumbing::http::ApiError;

use self::forms::{DeviceForm, PatchForm, Shown, UserForm, read};
use crate::{Edge, caller::Caller, openapi::Error};

/// What a back end's key needs to keep people.
const SCOPES: [Scope; 1] = [Scope::Directory];

/// Makes a user, or changes the record of one: what the body does not name stays.
#[utoipa::path(
    put,
    path = "/v1/users/{uid}",
    tag = "people",
    params(("uid" = String, Path, description = "the user", pattern = "^[0-9]{1,19}$")),
    request_body = UserForm,
    responses(
        (status = 200, body = Shown, description = "the user"),
        (status = 201, body = Shown, description = "the user was made"),
        (status = 400, body = Error, description = "a field or the body is wrong"),
        (status = 401, body = Error, description = "no key or token that is known"),
        (status = 403, body = Error, description = "not what this key or token is good for"),
        (status = 413, body = Error, description = "the body is too large"),
        (status = 429, body = Error, description = "this caller sends too much: see Retry-After"),
        (status = 503, body = Error, description = "no room, or the store is away: see Retry-After"),
        (status = 507, body = Error, description = "the store is full"),
        (status = 500, body = Error, description = "a fault of the server's own"),
    ),
    security(("bearer" = []))
)]
pub(crate) async fn put(
    State(edge): State<Arc<Edge>>,
    Extension(caller): Extension<Caller>,
    Path(uid): Path<String>,
    body: Bytes,
) -> Result<Response, ApiError> {
    let uid = checked(&caller, &uid, By::Key)?;
    let user = read::<UserForm>(&body)?.user(uid).map_err(refusal)?;
    let applied = edge.parts.directory.apply(vec![Change::Put(user)], edge.parts.clock.now()).await?;
    let status = match applied.into_iter().next() {
        Some(Applied::Created) => StatusCode::CREATED,
        Some(Applied::Refused(why)) => return Err(refusal(why)),
        _ => StatusCode::OK,
    };
    edge.homes.forget(uid);
    Ok((status, Json(shown(&edge, uid).await?)).into_response())
}

/// A user's record.
#[utoipa::path(
    get,
    path = "/v1/users/{uid}",
    tag = "people",
    params(("uid" = String, Path, description = "the user", pattern = "^[0-9]{1,19}$")),
    responses(
        (status = 200, body = Shown, description = "the user"),
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
) -> Result<Json<Shown>, ApiError> {
    let uid = checked(&caller, &uid, By::KeyOrUser)?;
    Ok(Json(shown(&edge, uid).await?))
}

/// Changes what the body names. A user's own token may change the opt-in alone.
#[utoipa::path(
    patch,
    path = "/v1/users/{uid}",
    tag = "people",
    params(("uid" = String, Path, description = "the user", pattern = "^[0-9]{1,19}$")),
    request_body = PatchForm,
    responses(
        (status = 200, body = Shown, description = "the user"),
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
pub(crate) async fn patch(
    State(edge): State<Arc<Edge>>,
    Extension(caller): Extension<Caller>,
    Path(uid): Path<String>,
    body: Bytes,
) -> Result<Json<Shown>, ApiError> {
    let uid = checked(&caller, &uid, By::KeyOrUser)?;
    let form = read::<PatchForm>(&body)?;
    if matches!(caller, Caller::User { .. }) && form.names_more_than_consent() {
        let message =
            "a user token may change `consent` alone: for the rest a key with the scope directory is wanted";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "forbidden", message));
    }
    patched(&edge, form.patch(uid).map_err(refusal)?).await
}

/// Erases a user: the record, and what they walked. May be repeated, also where an answer was lost.
#[utoipa::path(
    delete,
    path = "/v1/users/{uid}",
    tag = "people",
    params(("uid" = String, Path, description = "the user", pattern = "^[0-9]{1,19}$")),
    responses(
        (status = 204, description = "done"),
        (status = 400, body = Error, description = "a field or the body is wrong"),
        (status = 401, body = Error, description = "no key or token that is known"),
        (status = 403, body = Error, description = "not what this key or token is good for"),
        (status = 413, body = Error, description = "the body is too large"),
        (status = 429, body = Error, description = "this caller sends too much: see Retry-After"),
        (status = 503, body = Error, description = "no room, or the store is away: see Retry-After"),
        (status = 507, body = Error, description = "the store is full"),
        (status = 500, body = Error, description = "a fault of the server's own"),
    ),
    security(("bearer" = []))
)]
pub(crate) async fn delete(
    State(edge): State<Arc<Edge>>,
    Extension(caller): Extension<Caller>,
    Path(uid): Path<String>,
) -> Result<StatusCode, ApiError> {
    let uid = checked(&caller, &uid, By::Key)?;
    // the record first: from then on nobody's report is taken for them, and what is under way the store refuses for a minute
    edge.parts.directory.apply(vec![Change::Delete(uid)], edge.parts.clock.now()).await?;
    edge.homes.forget(uid);
    edge.parts.steps.erase(uid).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Registers a device, or registers it again.
#[utoipa::path(
    put,
    path = "/v1/users/{uid}/devices/{channel}",
    tag = "people",
    params(("uid" = String, Path, description = "the user", pattern = "^[0-9]{1,19}$"), ("channel" = String, Path, description = "the channel", pattern = "^[a-z0-9][a-z0-9_-]{0,31}$")),
    request_body = DeviceForm,
    responses(
        (status = 200, body = Shown, description = "the user"),
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
pub(crate) async fn put_device(
    State(edge): State<Arc<Edge>>,
    Extension(caller): Extension<Caller>,
    Path((uid, channel)): Path<(String, String)>,
    body: Bytes,
) -> Result<Json<Shown>, ApiError> {
    let uid = checked(&caller, &uid, By::KeyOrUser)?;
    let device = read::<DeviceForm>(&body)?.device(&channel).map_err(refusal)?;
    patched(&edge, UserPatch { device: Some(device), ..UserPatch::of(uid) }).await
}

/// Takes a device off; its address stands in the body, as it may be of any characters.
#[utoipa::path(
    delete,
    path = "/v1/users/{uid}/devices/{channel}",
    tag = "people",
    params(("uid" = String, Path, description = "the user", pattern = "^[0-9]{1,19}$"), ("channel" = String, Path, description = "the channel", pattern = "^[a-z0-9][a-z0-9_-]{0,31}$")),
    request_body = DeviceForm,
    responses(
        (status = 204, description = "done"),
        (status = 400, body = Error, description = "a field or the body is wrong"),
        (status = 401, body = Error, description = "no key or token that is known"),
        (status = 403, body = Error, description = "not what this key or token is good for"),
        (status = 404, body = Error, description = "there is no such user or device"),
        (status = 413, body = Error, description = "the body is too large"),
        (status = 429, body = Error, description = "this caller sends too much: see Retry-After"),
        (status = 503, body = Error, description = "no room, or the store is away: see Retry-After"),
        (status = 507, body = Error, description = "the store is full"),
        (status = 500, body = Error, description = "a fault of the server's own"),
    ),
    security(("bearer" = []))
)]
pub(crate) async fn delete_device(
    State(edge): State<Arc<Edge>>,
    Extension(caller): Extension<Caller>,
    Path((uid, channel)): Path<(String, String)>,
    body: Bytes,
) -> Result<StatusCode, ApiError> {
    let uid = checked(&caller, &uid, By::KeyOrUser)?;
    let channel: ChannelName = channel
        .parse()
        .map_err(|why: domain::BadName| ApiError::bad("bad_channel", format!("channel: {}", why.wanted)))?;
    let address = read::<DeviceForm>(&body)?.address;
    let now = edge.parts.clock.now();
    match edge.parts.directory.drop_device(uid, &channel, &address, now).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ApiError::absent("unknown_device", "the user has no such device")),
    }
}

/// Who may call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Key,
    KeyOrUser,
}

fn checked(caller: &Caller, uid: &str, by: By) -> Result<Uid, ApiError> {
    let uid: Uid = uid.parse().map_err(|why: domain::BadUid| ApiError::bad("bad_uid", why.to_string()))?;
    if by == By::Key {
        caller.needs_key(&SCOPES)?;
    }
    caller.may(uid, &SCOPES)?;
    Ok(uid)
}

async fn patched(edge: &Edge, patch: UserPatch) -> Result<Json<Shown>, ApiError> {
    let uid = patch.uid;
    match edge.parts.directory.patch(patch, edge.parts.clock.now()).await? {
        Applied::Absent => return Err(unknown()),
        Applied::Refused(why) => return Err(refusal(why)),
        _ => {}
    }
    edge.homes.forget(uid);
    Ok(Json(shown(edge, uid).await?))
}

async fn shown(edge: &Edge, uid: Uid) -> Result<Shown, ApiError> {
    let user = edge.parts.directory.users(&[uid]).await?.into_iter().next().flatten();
    Ok(Shown::of(&user.ok_or_else(unknown)?))
}

fn unknown() -> ApiError {
    ApiError::absent("unknown_user", "there is no such user")
}

fn refusal(why: Refusal) -> ApiError {
    ApiError::bad("bad_field", why.to_string())
}
