use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use plumbing::http::{ApiError, Limits, limited};
use tokio::sync::Semaphore;

use crate::{Edge, reports, steps};

/// Requests at work at once; more are turned away rather than held.
const AT_ONCE: usize = 512;
/// The bounds of a request; a body is bounded as it is read.
const LIMITS: Limits = Limits { body: reports::MOST_BODY, at_once: AT_ONCE, time: Duration::from_secs(30) };

/// The whole interface.
pub fn router(edge: Arc<Edge>) -> Router {
    let router = Router::new()
        .route("/v1/reports", post(reports::post))
        .route("/v1/users/{uid}/steps", get(steps::get))
        .route("/livez", get(|| async { "alive\n" }))
        .with_state(edge);
    let room = Arc::new(Semaphore::new(AT_ONCE));
    limited(router, LIMITS).layer(middleware::from_fn_with_state(room, admit))
}

/// Turns away what there is no room for, before anything of it is read.
async fn admit(State(room): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    match room.try_acquire_owned() {
        Ok(_held) => next.run(request).await,
        Err(_) => ApiError::busy(Duration::from_secs(1)).into_response(),
    }
}
