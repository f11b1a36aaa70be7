use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
};
use directory::{ApiKey, LONGEST_KEY_NAME, Scope, UnknownScope, is_key_id, made_key};
use plumbing::http::ApiError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::OpsState;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    scopes: Vec<String>,
    name: String,
}

/// `POST /ops/v1/keys`: makes a key; `key` is its text, which is told this once.
pub(super) async fn add(
    State(state): State<Arc<OpsState>>,
    Json(asked): Json<Asked>,
) -> Result<Json<Value>, ApiError> {
    let scopes =
        asked.scopes.iter().map(|scope| scope.parse::<Scope>()).collect::<Result<Vec<_>, UnknownScope>>();
    let scopes = scopes.map_err(|why| ApiError::bad("bad_scope", why.to_string()))?;
    if scopes.is_empty() {
        return Err(ApiError::bad("bad_scope", "scopes: at least one is wanted"));
    }
    if asked.name.len() > LONGEST_KEY_NAME || asked.name.chars().any(char::is_control) {
        let message = format!("name: at most {LONGEST_KEY_NAME} bytes without control characters are wanted");
        return Err(ApiError::bad("bad_name", message));
    }
    let (text, key) = made_key(scopes.into_iter().collect(), &asked.name, state.clock.now())?;
    let mut told = shown(&key);
    state.keys.add(key).await?;
    told["key"] = text.into();
    Ok(Json(told))
}

/// `GET /ops/v1/keys`: all keys, without their texts.
pub(super) async fn list(State(state): State<Arc<OpsState>>) -> Result<Json<Value>, ApiError> {
    let keys: Vec<_> = state.keys.all().await?.iter().map(shown).collect();
    Ok(Json(json!({ "keys": keys })))
}

/// `POST /ops/v1/keys/{id}/revoke`
pub(super) async fn revoke(
    State(state): State<Arc<OpsState>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    if !is_key_id(&id) || !state.keys.revoke(&id).await? {
        return Err(ApiError::absent("unknown_key", "there is no API key with this id"));
    }
    Ok(Json(json!({ "revoked": id })))
}

fn shown(key: &ApiKey) -> Value {
    let scopes: Vec<_> = key.scopes.iter().map(Scope::name).collect();
    json!({ "id": key.id, "scopes": scopes, "name": key.name, "made_at": key.made_at })
}
