//! The HTTP shell: answers and errors in one form, the key's check, limits of size, time and number.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, Request},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use night_ledger::StoreError;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::limit::GlobalConcurrencyLimitLayer;
use tower_http::{catch_panic::CatchPanicLayer, timeout::TimeoutLayer};

/// The most bytes of a request's body.
pub(crate) const MOST_BODY: usize = 8 << 20;
/// The most rows of a request.
pub(crate) const MOST_ROWS: usize = 10_000;
/// Requests worked on at once; more wait.
const AT_ONCE: usize = 128;
/// Time limit of a request.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// An error as the caller sees it: a short code and a text; what lies behind it is in the log under the same number.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl ApiError {
    /// The request cannot be served as it is.
    pub(crate) fn bad(code: &'static str, message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code, message: message.into() }
    }

    /// The request has more rows than are taken at once.
    pub(crate) fn too_many_rows() -> Self {
        let message = format!("at most {MOST_ROWS} rows are taken at once");
        Self { status: StatusCode::PAYLOAD_TOO_LARGE, code: "too_many_rows", message }
    }

    /// What is asked for is not there.
    pub(crate) fn absent(code: &'static str, message: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, code, message: message.into() }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let status = match error {
            StoreError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            StoreError::Corrupt { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            StoreError::Full { .. } => StatusCode::INSUFFICIENT_STORAGE,
        };
        Self { status, code: "store", message: error.to_string() }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut random = [0; 8];
        // without random bytes the number is 0: the answer matters more
        let _ = aws_lc_rs::rand::fill(&mut random);
        let request = format!("{:016x}", u64::from_be_bytes(random));
        if self.status.is_server_error() {
            tracing::error!(request, status = self.status.as_u16(), error = self.message, "a request failed");
        } else {
            tracing::debug!(
                request,
                status = self.status.as_u16(),
                error = self.message,
                "a request was refused"
            );
        }
        (self.status, Json(json!({ "error": self.code, "message": self.message, "request": request })))
            .into_response()
    }
}

/// Puts the limits around a router.
pub(crate) fn limited(router: Router) -> Router {
    router
        .layer(CatchPanicLayer::new())
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, TIME_LIMIT))
        .layer(GlobalConcurrencyLimitLayer::new(AT_ONCE))
}

/// Lets only callers with this key through: `Authorization: Bearer KEY`.
pub(crate) fn keyed(router: Router, key: &SecretString) -> Router {
    let key = Arc::new(key.clone());
    router.layer(middleware::from_fn(move |request: Request, next: Next| {
        let key = Arc::clone(&key);
        async move {
            let given = request
                .headers()
                .get(header::AUTHORIZATION)
                .and_then(|v| v.as_bytes().strip_prefix(b"Bearer "));
            let right = given.is_some_and(|given| {
                aws_lc_rs::constant_time::verify_slices_are_equal(given, key.expose_secret().as_bytes())
                    .is_ok()
            });
            if right {
                return next.run(request).await;
            }
            let body =
                json!({ "error": "unauthorized", "message": "the ops key is wanted as a bearer token" });
            (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], Json(body)).into_response()
        }
    }))
}

/// Serves until `stop`, then lets requests in flight end.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, service).with_graceful_shutdown(stop.cancelled_owned()).await
}
