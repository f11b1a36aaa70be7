use axum::http::{HeaderMap, StatusCode};
use directory::{Scope, Scopes, TokenKeys};
use domain::Uid;
use plumbing::http::{ApiError, bearer};

use crate::Edge;

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// An app's back end, by an API key.
    Key { id: String, scopes: Scopes },
    /// A user, by a token of their own: their id as the app writes it, and the uid.
    User { id: String, uid: Uid },
}

impl Edge {
    /// Who calls, before anything else of the request is looked at.
    pub(crate) async fn caller(&self, headers: &HeaderMap) -> Result<Caller, ApiError> {
        let text = bearer(headers)
            .ok_or_else(|| unauthorized("a bearer token is wanted: an API key or a user token"))?;
        if TokenKeys::is_token(text) {
            let now = self.parts.clock.now();
            let id = self
                .parts
                .tokens
                .user(text, now)
                .map_err(|why| unauthorized(&format!("the token: {why}")))?;
            let uid = id.parse().map_err(|_| unauthorized("the token: it names no uid"))?;
            return Ok(Caller::User { id, uid });
        }
        let key = self.parts.keys.check(text).await?;
        let (id, scopes) = key.ok_or_else(|| unauthorized("the API key is not known"))?;
        Ok(Caller::Key { id, scopes })
    }
}

impl Caller {
    /// Whether the caller may name a user, by one of these scopes or as that user. One and the same refusal, whether or not there is
    /// such a user.
    pub(crate) fn may(&self, uid: Uid, scopes: &[Scope]) -> Result<(), ApiError> {
        match self {
            Self::Key { scopes: held, .. } => needs(*held, scopes),
            Self::User { uid: own, .. } if *own == uid => Ok(()),
            Self::User { .. } => Err(forbidden("a user token is good for that user alone")),
        }
    }

    /// Whether the caller has a key with one of these scopes.
    pub(crate) fn needs_key(&self, scopes: &[Scope]) -> Result<(), ApiError> {
        match self {
            Self::Key { scopes: held, .. } => needs(*held, scopes),
            Self::User { .. } => Err(forbidden("a user token is not good for this: an API key is wanted")),
        }
    }

    /// Whether the caller may report at all.
    pub(crate) fn may_report(&self) -> Result<(), ApiError> {
        match self {
            Self::Key { scopes, .. } => needs(*scopes, &[Scope::Reports]),
            Self::User { .. } => Ok(()),
        }
    }

    /// Whether the caller may report for a user.
    pub(crate) fn is_for(&self, uid: Uid) -> bool {
        match self {
            Self::Key { .. } => true,
            Self::User { uid: own, .. } => *own == uid,
        }
    }
}

fn needs(held: Scopes, one_of: &[Scope]) -> Result<(), ApiError> {
    if one_of.iter().any(|scope| held.has(*scope)) {
        return Ok(());
    }
    let names: Vec<_> = one_of.iter().map(|scope| scope.name()).collect();
    Err(forbidden(&format!("a key with the scope {} is wanted", names.join(" or "))))
}

fn unauthorized(message: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
}

fn forbidden(message: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "forbidden", message)
}
