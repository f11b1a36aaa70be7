//! The HTTP shell of every part that listens: answers and errors in one form, bearer keys, bodies that are bounded as they are
//! unpacked, limits of time and number.

mod bearer;
mod body;
mod budget;
mod decoding;
mod error;
mod json_errors;
mod serve;
#[cfg(test)]
mod tests;

use std::time::Duration;

use axum::{Router, extract::DefaultBodyLimit, http::StatusCode};
use tower::limit::GlobalConcurrencyLimitLayer;
use tower_http::{catch_panic::CatchPanicLayer, timeout::TimeoutLayer};

pub use self::{
    bearer::{bearer, same},
    body::read_body,
    budget::Budget,
    error::{ApiError, tell_causes},
    json_errors::json_errors,
    serve::{Listening, serve},
};

/// What bounds the requests to a router.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes of a body that is taken whole.
    pub body: usize,
    /// Requests worked on at once; more wait.
    pub at_once: usize,
    /// Time limit of a request.
    pub time: Duration,
}

/// Puts the limits around a router. A panic ends its own request alone.
pub fn limited(router: Router, limits: Limits) -> Router {
    router
        .layer(CatchPanicLayer::new())
        .layer(DefaultBodyLimit::max(limits.body))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, limits.time))
        .layer(GlobalConcurrencyLimitLayer::new(limits.at_once))
}
