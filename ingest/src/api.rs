use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post, put},
};
use plumbing::http::{ApiError, Limits, Listening, json_errors, limited};
use tokio::sync::Semaphore;

use crate::{Edge, openapi, people, reports, steps};

/// Requests at work at once; more are turned away rather than held.
const AT_ONCE: usize = 512;
/// The bounds of a request; that of a body is for people, reports have their own.
const LIMITS: Limits = Limits { body: 256 << 10, at_once: AT_ONCE, time: Duration::from_secs(30) };
/// The bounds of the listener. Phones come each with a connection of its own, and a proxy before it with a few.
pub const LISTENING: Listening =
    Listening { connections: 10_000, streams: 128, drain: Duration::from_secs(30) };

/// The whole interface.
pub fn router(edge: Arc<Edge>) -> Router {
    let router = Router::new()
        .route("/v1/reports", post(reports::post))
        .route("/v1/users/{uid}/steps", get(steps::get))
        .route(
            "/v1/users/{uid}",
            get(people::get).put(people::put).patch(people::patch).delete(people::delete),
        )
        .route("/v1/users/{uid}/devices/{channel}", put(people::put_device).delete(people::delete_device))
        .route_layer(middleware::from_fn_with_state(Arc::clone(&edge), let_in))
        .route("/openapi.json", get(openapi::get))
        .route("/livez", get(|| async { "alive\n" }))
        .with_state(edge);
    let room = Arc::new(Semaphore::new(AT_ONCE));
    json_errors(limited(router, LIMITS).layer(middleware::from_fn_with_state(room, admit)))
}

/// Turns away what there is no room for, before anything of it is read.
async fn admit(State(room): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    match room.try_acquire_owned() {
        Ok(_held) => next.run(request).await,
        Err(_) => ApiError::busy(Duration::from_secs(1)).into_response(),
    }
}

/// Tells who calls, or refuses before anything of the body is read.
async fn let_in(State(edge): State<Arc<Edge>>, mut request: Request, next: Next) -> Response {
    match edge.caller(request.headers()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(refused) => refused.into_response(),
    }
}
