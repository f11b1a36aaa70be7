use axum::http::{HeaderMap, header};

/// What a caller shows: `Authorization: Bearer ...`. `None` where there is nothing of the kind.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Whether two secrets are the same, in a time that tells nothing of where they differ.
pub fn same(given: &[u8], wanted: &[u8]) -> bool {
    aws_lc_rs::constant_time::verify_slices_are_equal(given, wanted).is_ok()
}
