//! User tokens: by which a phone shows whose it is. An app's back end makes them, docs/tokens.md tells how.
//!
//! A token is the text `stu1.<key>.<payload>.<mac>`. The key is the id of the secret it was made with. The payload is, in base64url
//! without padding, the second from which it holds no more (i64, big-endian, since 1970) and the user's id as the app writes it.
//! The mac is HMAC-SHA256, by the secret, of all that stands before the last dot, in base64url without padding.

use std::collections::BTreeMap;

use aws_lc_rs::hmac;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::Instant;

/// The most keys that may be in use at once.
pub const MOST_TOKEN_KEYS: usize = 16;

const FRONT: &str = "stu1";
/// Bytes of a secret, at least and at most.
const SECRET: std::ops::RangeInclusive<usize> = 32..=64;
/// Bytes of a key's id, and of a user's, at most.
const LONGEST_KEY: usize = 16;
const LONGEST_ID: usize = 128;
/// The longest token that is looked at.
const LONGEST: usize = 400;

/// The secrets by which tokens are made and judged, by their ids.
#[derive(Default)]
pub struct TokenKeys(BTreeMap<String, hmac::Key>);

/// A key that is none.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadTokenKey {
    /// Its id.
    #[error("1 to {LONGEST_KEY} of a-z, 0-9, '-' and '_' are wanted")]
    Id,
    /// Its secret.
    #[error("{} to {} bytes are wanted", SECRET.start(), SECRET.end())]
    Secret,
    /// It is one too many.
    #[error("at most {MOST_TOKEN_KEYS} keys are wanted")]
    Many,
}

/// Why a token is not taken.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadToken {
    /// It has not the form of a token.
    #[error("it is no user token")]
    Form,
    /// Nobody knows its key.
    #[error("its key is not known")]
    Key,
    /// It was made with another secret, or changed.
    #[error("it is not sound")]
    Mac,
    /// Its time is over.
    #[error("it has expired")]
    Expired,
}

impl TokenKeys {
    /// Adds a key.
    pub fn add(&mut self, id: &str, secret: &[u8]) -> Result<(), BadTokenKey> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b);
        if !(1..=LONGEST_KEY).contains(&id.len()) || !id.bytes().all(plain) {
            return Err(BadTokenKey::Id);
        }
        if !SECRET.contains(&secret.len()) {
            return Err(BadTokenKey::Secret);
        }
        if self.0.len() >= MOST_TOKEN_KEYS {
            return Err(BadTokenKey::Many);
        }
        self.0.insert(id.to_owned(), hmac::Key::new(hmac::HMAC_SHA256, secret));
        Ok(())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a text looks like a token rather than another kind of bearer.
    pub fn is_token(text: &str) -> bool {
        text.split('.').next() == Some(FRONT)
    }

    /// A token of a user that holds until `expires`, made with a key, or with the first by id. `None` where there is none.
    pub fn make(&self, key: Option<&str>, user: &str, expires: Instant) -> Option<String> {
        let (id, secret) = match key {
            Some(id) => self.0.get_key_value(id)?,
            None => self.0.first_key_value()?,
        };
        let payload = [&expires.timestamp().to_be_bytes()[..], user.as_bytes()].concat();
        let head = format!("{FRONT}.{id}.{}", URL_SAFE_NO_PAD.encode(payload));
        let mac = URL_SAFE_NO_PAD.encode(hmac::sign(secret, head.as_bytes()));
        Some(format!("{head}.{mac}"))
    }

    /// The user's id, as the app writes it, in a token that holds at `now`.
    pub fn user(&self, token: &str, now: Instant) -> Result<String, BadToken> {
        if token.len() > LONGEST {
            return Err(BadToken::Form);
        }
        let (head, mac) = token.rsplit_once('.').ok_or(BadToken::Form)?;
        let [front, id, payload] = head.split('.').collect::<Vec<_>>()[..] else {
            return Err(BadToken::Form);
        };
        if front != FRONT {
            return Err(BadToken::Form);
        }
        let read = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| BadToken::Form);
        let (payload, mac) = (read(payload)?, read(mac)?);
        let secret = self.0.get(id).ok_or(BadToken::Key)?;
        // in a time that tells nothing of where they differ
        hmac::verify(secret, head.as_bytes(), &mac).map_err(|_| BadToken::Mac)?;
        let (expires, user) = payload.split_first_chunk().ok_or(BadToken::Form)?;
        if now.timestamp() >= i64::from_be_bytes(*expires) {
            return Err(BadToken::Expired);
        }
        let user = std::str::from_utf8(user).ok().filter(|user| (1..=LONGEST_ID).contains(&user.len()));
        user.map(str::to_owned).ok_or(BadToken::Form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTOR_1: &str = "stu1.a.AAAAAGolzcAxMDAx.YhsvYWNggb2k8parbbgTGTRoTKQNiowxWIZIA1Xvn-0";
    const VECTOR_2: &str = "stu1.k2.AAAAAPSGVwB1c2VyLcOc.62DF-UD-bL0cb4gKy7_HT01020BYjdwAqkFcn1vpTU4";

    const SECRET_BYTES: [u8; 32] = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
        28, 29, 30, 31,
    ];

    fn keys() -> TokenKeys {
        let mut keys = TokenKeys::default();
        keys.add("a", &SECRET_BYTES).unwrap();
        keys.add("k2", &SECRET_BYTES).unwrap();
        keys
    }

    fn at(seconds: i64) -> Instant {
        Instant::from_timestamp(seconds, 0).unwrap()
    }

    /// The vectors of docs/tokens.md, worked out with another implementation of HMAC.
    #[test]
    fn vectors() {
        for (key, expires, user, token) in
            [("a", 1_780_862_400, "1001", VECTOR_1), ("k2", 4_102_444_800, "user-Ü", VECTOR_2)]
        {
            assert_eq!(keys().make(Some(key), user, at(expires)).as_deref(), Some(token));
            assert_eq!(keys().user(token, at(expires - 1)).as_deref(), Ok(user));
            assert_eq!(keys().user(token, at(expires)), Err(BadToken::Expired));
        }
    }

    #[test]
    fn what_was_changed_is_not_taken() {
        let now = at(0);
        for (place, letter) in VECTOR_1.char_indices() {
            let other = if letter == 'A' { 'B' } else { 'A' };
            let changed = format!("{}{other}{}", &VECTOR_1[..place], &VECTOR_1[place + 1..]);
            assert!(keys().user(&changed, now).is_err(), "{changed}");
        }
        let long = "x".repeat(500);
        for bad in ["", "stu1", "stu1.a", "stu1.a.b.c", "stu1.a.b.c.d", "stu2.a.AAAA.AAAA", long.as_str()] {
            assert!(keys().user(bad, now).is_err(), "{bad}");
        }
        let mut others = TokenKeys::default();
        others.add("a", &[7; 32]).unwrap();
        assert_eq!(others.user(VECTOR_1, now), Err(BadToken::Mac));
        assert_eq!(others.user(VECTOR_2, now), Err(BadToken::Key));
        assert!(TokenKeys::is_token(VECTOR_1) && !TokenKeys::is_token("sck1.a.b"));
    }

    #[test]
    fn keys_have_their_bounds() {
        let mut keys = TokenKeys::default();
        assert_eq!(keys.add("A", &[0; 32]), Err(BadTokenKey::Id));
        assert_eq!(keys.add("", &[0; 32]), Err(BadTokenKey::Id));
        assert_eq!(keys.add("a", &[0; 31]), Err(BadTokenKey::Secret));
        assert!(keys.is_empty() && keys.make(None, "1", at(1)).is_none());
        for n in 0..MOST_TOKEN_KEYS {
            keys.add(&format!("k{n}"), &[0; 64]).unwrap();
        }
        assert_eq!(keys.add("more", &[0; 64]), Err(BadTokenKey::Many));
    }
}
