use std::time::Duration;

use axum::{
    Json,
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use crate::StoreError;

/// An error as the caller sees it: a short code, a text and the number of the request; what lies behind it is in the log under
/// the same number.
#[derive(Clone, Debug)]
pub struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    retry_after: Option<Duration>,
    /// What lies behind it: for the log, and for operators.
    cause: Option<String>,
}

/// Goes with an answer, to be told where only operators ask.
#[derive(Clone, Debug)]
struct Cause(Value);

/// Puts what lies behind a refusal into its message: for an interface that is the operators' alone.
pub async fn tell_causes(response: Response) -> Response {
    let Some(Cause(body)) = response.extensions().get::<Cause>().cloned() else { return response };
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(body.to_string()))
}

impl ApiError {
    /// An error with this status, a code that stays the same and a text that may change.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), retry_after: None, cause: None }
    }

    /// The request cannot be served as it is.
    pub fn bad(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// The request has more rows than are taken at once.
    pub fn too_many_rows(most: usize) -> Self {
        let message = format!("at most {most} rows are taken at once");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_many_rows", message)
    }

    /// What is asked for is not there.
    pub fn absent(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    /// There is no room for the request now: it is to come again after so long.
    pub fn busy(after: Duration) -> Self {
        let message = "there is no room for this request now: try again later";
        Self { retry_after: Some(after), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message) }
    }

    /// The caller has used up what it may do: it is to come again after so long.
    pub fn throttled(after: Duration) -> Self {
        let message = "this caller sends more than it may: try again later";
        Self { retry_after: Some(after), ..Self::new(StatusCode::TOO_MANY_REQUESTS, "throttled", message) }
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let (status, message, retry_after) = match error {
            StoreError::Unavailable(_) => {
                let message = "a store is away: try again later";
                (StatusCode::SERVICE_UNAVAILABLE, message, Some(Duration::from_secs(1)))
            }
            StoreError::Corrupt { .. } => {
                (StatusCode::INTERNAL_SERVER_ERROR, "what is stored cannot be read", None)
            }
            StoreError::Full { .. } => (StatusCode::INSUFFICIENT_STORAGE, "a store is full", None),
        };
        // names servers and what lies in them, which is nobody's business outside
        let cause = Some(error.to_string());
        Self { retry_after, cause, ..Self::new(status, "store", message) }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut random = [0; 8];
        // without random bytes the number is 0: the answer matters more
        let _ = aws_lc_rs::rand::fill(&mut random);
        let request = format!("{:016x}", u64::from_be_bytes(random));
        let (status, error) = (self.status.as_u16(), self.cause.as_ref().unwrap_or(&self.message));
        // one that only comes too early is the caller's to know
        if self.status.is_server_error() && self.code != "busy" {
            tracing::error!(request, status, error, "a request failed");
        } else {
            tracing::debug!(request, status, error, "a request was refused");
        }
        let body = |message: &str| json!({ "error": self.code, "message": message, "request": request });
        let mut response = (self.status, Json(body(&self.message))).into_response();
        if let Some(cause) = &self.cause {
            response.extensions_mut().insert(Cause(body(cause)));
        }
        if let Some(after) = self.retry_after {
            // whole seconds, and never at once
            let seconds = after.as_secs() + u64::from(after.subsec_nanos() > 0);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
