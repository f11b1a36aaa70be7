use aws_lc_rs::hmac;
use base64::{Engine as _, engine::general_purpose::STANDARD};

/// The secret that pushes to a receiver are signed with.
pub const SECRET: &str = "whsec_c3RlcGNhc3Qgc3RlcGNhc3Qgc3RlcGNhc3Q=";

/// Whether a signature is right and the timestamp is of these days (Standard Webhooks 1.0, symmetric scheme).
pub(super) fn good(id: &str, timestamp: &str, signature: &str, body: &[u8]) -> bool {
    let key = SECRET.strip_prefix("whsec_").and_then(|text| STANDARD.decode(text).ok());
    let given = signature.strip_prefix("v1,").and_then(|text| STANDARD.decode(text).ok());
    let (Some(key), Some(given), Ok(seconds)) = (key, given, timestamp.parse::<i64>()) else { return false };
    let mut signed = format!("{id}.{timestamp}.").into_bytes();
    signed.extend(body);
    let right = hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, &key), &signed, &given).is_ok();
    right && (chrono::Utc::now().timestamp() - seconds).abs() < 300
}
