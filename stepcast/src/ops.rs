//! The ops API: what operator commands ask of the running program, or of the file when nothing runs.

pub(crate) mod brake;
mod clock;
mod dead;
mod import;
mod keys;
mod night;
pub(crate) mod proving;
mod replay;
pub(crate) mod report;
mod steps;
mod why;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::Request,
    http::StatusCode,
    middleware::{self, Next},
    response::IntoResponse,
    routing::{get, post},
};
use directory::ApiKeys;
use domain::ShardCount;
use ingest::Freezer;
use plumbing::{
    Clock,
    http::{self, ApiError, Limits, Listening},
};
use prometheus_client::registry::Registry;
use secrecy::{ExposeSecret, SecretString};
use sender::Parts;

use crate::program::{Lookout, Program};

/// The most bytes of a request's body.
pub(crate) const MOST_BODY: usize = 8 << 20;
/// The most rows of a request.
const MOST_ROWS: usize = 10_000;

/// The bounds of the ops API.
pub(crate) const LIMITS: Limits = Limits { body: MOST_BODY, at_once: 128, time: Duration::from_secs(60) };

/// The bounds of its listener: callers are few and on this machine.
pub(crate) const LISTENING: Listening =
    Listening { connections: 512, streams: 128, drain: Duration::from_secs(60) };

/// What the ops API works on.
pub(crate) struct OpsState {
    /// The stores and the sender's figures.
    pub(crate) parts: Arc<Parts>,
    /// The clock; it may be moved only in a rehearsal.
    pub(crate) clock: Arc<Clock>,
    /// Whether this is a rehearsal.
    pub(crate) rehearsal: bool,
    /// The N of nights not sealed yet.
    pub(crate) shards: ShardCount,
    /// Who may call the HTTP interfaces.
    pub(crate) keys: Arc<dyn ApiKeys>,
    /// What looks after shared stores.
    pub(crate) lookout: Option<Arc<Lookout>>,
    /// What freezes days, where this process does.
    pub(crate) freezer: Option<Arc<Freezer>>,
    /// The figures of the scheduler, where one runs.
    pub(crate) scheduler: Option<scheduler::Metrics>,
    /// The counters of the parts.
    pub(crate) registry: Registry,
}

impl OpsState {
    /// The state over a program.
    pub(crate) fn of(program: &Program, scheduler: Option<scheduler::Metrics>, registry: Registry) -> Self {
        Self {
            parts: Arc::clone(&program.parts),
            clock: Arc::clone(&program.clock),
            rehearsal: program.config.rehearsal,
            shards: program.config.scheduler.shards,
            keys: Arc::clone(&program.keys),
            lookout: program.lookout.clone(),
            freezer: None,
            scheduler,
            registry,
        }
    }
}

/// All routes below `/ops/v1`.
pub(crate) fn router(state: Arc<OpsState>) -> Router {
    Router::new()
        .route("/ops/v1/night", get(night::show))
        .route("/ops/v1/night/brake", post(brake::set))
        .route("/ops/v1/night/sweep", post(brake::sweep))
        .route("/ops/v1/night/seals", get(proving::seals))
        .route("/ops/v1/night/claims", get(proving::claims))
        .route("/ops/v1/why", get(why::why))
        .route("/ops/v1/dead", get(dead::list))
        .route("/ops/v1/dead/replay", post(replay::replay))
        .route("/ops/v1/dead/{id}", get(dead::show))
        .route("/ops/v1/steps", get(steps::get).post(steps::add))
        .route("/ops/v1/users", post(import::users))
        .route("/ops/v1/users/census", get(import::census))
        .route("/ops/v1/keys", get(keys::list).post(keys::add))
        .route("/ops/v1/keys/{id}/revoke", post(keys::revoke))
        .route("/ops/v1/clock", post(clock::set))
        .layer(middleware::map_response(http::tell_causes))
        .with_state(state)
}

/// Lets only callers with this key through: `Authorization: Bearer KEY`.
pub(crate) fn keyed(router: Router, key: &SecretString) -> Router {
    let key = Arc::new(key.clone());
    router.layer(middleware::from_fn(move |request: Request, next: Next| {
        let key = Arc::clone(&key);
        async move {
            let given = http::bearer(request.headers());
            if given.is_some_and(|given| http::same(given.as_bytes(), key.expose_secret().as_bytes())) {
                return next.run(request).await;
            }
            let message = "the ops key is wanted as a bearer token";
            ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message).into_response()
        }
    }))
}
