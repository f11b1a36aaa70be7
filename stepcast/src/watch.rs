//! What watches the program: alive, ready, and figures in the Prometheus text format.

mod figures;
mod ready;

use std::sync::Arc;

use axum::{Router, routing::get};

use crate::ops::OpsState;

/// `/livez`, `/readyz` and `/metrics`.
pub(crate) fn router(state: Arc<OpsState>) -> Router {
    Router::new()
        .route("/livez", get(|| async { "alive\n" }))
        .route("/readyz", get(ready::ready))
        .route("/metrics", get(figures::metrics))
        .with_state(state)
}
