use std::fmt;

use aws_lc_rs::hmac;
use base64::{Engine as _, engine::general_purpose::STANDARD};

/// Bytes of a signature as it is written.
const LENGTH: usize = 3 + 44;

/// Signs as Standard Webhooks 1.0 has it (symmetric scheme, `v1`).
pub(super) struct Signer(hmac::Key);

impl Signer {
    /// A signer from a secret as it is written down: `whsec_` and base64 of 24 to 64 bytes. White space around it,
    /// such as the line end of a file, does not count. The error says what is wanted and nothing of what was given.
    pub(super) fn from_secret(text: &str) -> Result<Self, &'static str> {
        const WANTED: &str = "whsec_ and base64 (with its padding) of 24 to 64 bytes are wanted";
        let encoded = text.trim().strip_prefix("whsec_").ok_or(WANTED)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| WANTED)?;
        if !(24..=64).contains(&bytes.len()) {
            return Err(WANTED);
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// The value of `webhook-signature`: `v1,` and base64 of the HMAC-SHA256 of `{id}.{timestamp}.{body}`, the
    /// timestamp in Unix seconds.
    pub(super) fn sign(&self, id: &str, timestamp: u64, body: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        let mut digits = itoa::Buffer::new();
        for part in [id, ".", digits.format(timestamp), "."] {
            context.update(part.as_bytes());
        }
        context.update(body);
        let mut signature = String::with_capacity(LENGTH);
        signature.push_str("v1,");
        STANDARD.encode_string(context.sign(), &mut signature);
        signature
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_vector_comes_out() {
        let key = STANDARD.decode("plJ3nmyCDGBKInavdOK15jsl").unwrap();
        let signer = Signer(hmac::Key::new(hmac::HMAC_SHA256, &key));
        let body = br#"{"event_type":"ping","data":{"success":true}}"#;
        let signature = signer.sign("msg_loFOjxBNrRLzqYUf", 1_731_705_121, body);
        assert_eq!(signature, "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=");
    }

    #[test]
    fn secrets_are_checked() {
        let of = |bytes: usize| format!("whsec_{}", STANDARD.encode(vec![7; bytes]));
        for good in [of(24), of(64), format!(" {}\n", of(32))] {
            assert!(Signer::from_secret(&good).is_ok(), "{good}");
        }
        for bad in
            [of(23), of(65), of(24)[6..].to_owned(), "whsec_".into(), "whsec_%%%%".into(), String::new()]
        {
            assert!(Signer::from_secret(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_key_is_not_shown() {
        let secret = format!("whsec_{}", STANDARD.encode([65; 32]));
        let shown = format!("{:?}", Signer::from_secret(&secret).unwrap());
        assert_eq!(shown, "Signer");
    }
}
