//! `GET /openapi.json`: the interface in the words of OpenAPI 3.1, made from the code. What is written by hand here are the
//! forms that the code reads or writes without a type of its own.

use axum::{Json, response::IntoResponse};
use utoipa::{
    OpenApi, ToSchema,
    openapi::security::{Http, HttpAuthScheme, SecurityScheme},
};

use crate::Reason;

/// The description.
#[derive(OpenApi)]
#[openapi(
    info(title = "stepcast ingest", description = "Reports of steps, and the people they are of."),
    paths(
        crate::reports::post,
        crate::steps::get,
        crate::people::put,
        crate::people::get,
        crate::people::patch,
        crate::people::delete,
        crate::people::put_device,
        crate::people::delete_device,
    ),
    modifiers(&Bearer)
)]
struct Description;

/// An API key or a user token.
struct Bearer;

impl utoipa::Modify for Bearer {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        api.components.get_or_insert_default().add_security_scheme("bearer", scheme);
    }
}

/// What a source counted. An increment (`steps`, with an `id`) or a running total of the day (`total`): one of the two.
#[derive(ToSchema)]
#[schema(as = Item)]
#[allow(dead_code, reason = "read field by field, so that one that is wrong is told by its name")]
pub(crate) struct ItemForm {
    /// The user: a whole number up to 2^64 - 1, in digits.
    #[schema(pattern = "^[0-9]{1,20}$")]
    uid: String,
    /// When it was walked, with the offset.
    #[schema(format = DateTime)]
    at: String,
    /// So many more since the report before.
    #[schema(maximum = 200_000)]
    steps: Option<u32>,
    /// So many since the day began.
    #[schema(maximum = 200_000)]
    total: Option<u32>,
    /// Who counted.
    #[schema(pattern = "^[a-z0-9._-]{1,32}$")]
    source: String,
    /// By what a repeat is known.
    #[schema(min_length = 1, max_length = 128)]
    id: Option<String>,
}

/// What came of a batch: `results` in the order of the items.
#[derive(ToSchema)]
#[allow(dead_code, reason = "written by hand, as it is counted")]
pub(crate) struct Answered {
    results: Vec<ItemAnswered>,
    stored: u64,
    repeats: u64,
    refused: u64,
}

/// What came of an item.
#[derive(ToSchema)]
#[schema(as = Result)]
#[allow(dead_code, reason = "written by hand, as it is counted")]
pub(crate) struct ItemAnswered {
    status: ItemStatus,
    /// The number of the user's day now; not where it is refused.
    steps: Option<u32>,
    /// Why it is refused.
    reason: Option<Reason>,
    /// The field at fault, where there is one.
    field: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code, reason = "written by hand, as it is counted")]
pub(crate) enum ItemStatus {
    Stored,
    Repeat,
    Refused,
}

/// Why a request is not served.
#[derive(ToSchema)]
#[allow(dead_code, reason = "written by the HTTP shell")]
pub(crate) struct Error {
    /// Stays the same.
    error: String,
    /// For people; may change.
    message: String,
    /// The number of the request in the log.
    request: String,
}

pub(crate) async fn get() -> impl IntoResponse {
    Json(Description::openapi())
}
