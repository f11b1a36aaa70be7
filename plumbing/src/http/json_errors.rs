use axum::{
    Router,
    body::to_bytes,
    http::{HeaderValue, StatusCode, header},
    middleware,
    response::{IntoResponse, Response},
};

use super::ApiError;

/// The longest text of the library's that is handed on.
const LONGEST: usize = 1_024;

/// Gives the library's own refusals (a path that nobody serves, a method that a path has not, a body that is too large) the form
/// of all others.
pub fn json_errors(router: Router) -> Router {
    router.layer(middleware::map_response(reformed))
}

async fn reformed(response: Response) -> Response {
    let status = response.status();
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !(status.is_client_error() || status.is_server_error()) || is_json {
        return response;
    }
    let (parts, body) = response.into_parts();
    let text = to_bytes(body, LONGEST).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    let text = if text.is_empty() { status.canonical_reason().unwrap_or_default().to_owned() } else { text };
    let mut reformed = ApiError::new(status, code(status), text).into_response();
    for name in [header::ALLOW, header::RETRY_AFTER] {
        if let Some(value) = parts.headers.get(&name) {
            reformed.headers_mut().insert(name, value.clone());
        }
    }
    if status == StatusCode::SERVICE_UNAVAILABLE && !reformed.headers().contains_key(header::RETRY_AFTER) {
        reformed.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    reformed
}

fn code(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "not_found",
        StatusCode::METHOD_NOT_ALLOWED => "method_not_allowed",
        StatusCode::PAYLOAD_TOO_LARGE => "body_too_large",
        StatusCode::SERVICE_UNAVAILABLE => "unavailable",
        status if status.is_server_error() => "internal",
        _ => "bad_request",
    }
}
