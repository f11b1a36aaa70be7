use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::Instant;
use plumbing::StoreError;

use super::{Scopes, is_key_id, to_second};

/// The longest name of a key, in bytes.
pub const LONGEST_KEY_NAME: usize = 64;

/// What every key begins with: its form, version 1.
const FRONT: &str = "sck1";
/// Bytes of a secret, and of a hash.
const LENGTH: usize = 32;
/// The version of the bytes below.
const VERSION: u8 = 1;

/// A key as the store has it. `Debug` does not show the hash.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// By what it is told from others, as operators see it.
    pub id: String,
    /// What it is good for.
    pub scopes: Scopes,
    /// What it is for; may be empty.
    pub name: String,
    /// When it was made, to the second.
    pub made_at: Instant,
    hash: [u8; LENGTH],
}

/// Makes a key: its text, which is shown once, and what is kept of it.
///
/// # Errors
/// The system gives no random bytes.
pub fn made(scopes: Scopes, name: &str, now: Instant) -> Result<(String, ApiKey), StoreError> {
    let mut random = [0; 8 + LENGTH];
    aws_lc_rs::rand::fill(&mut random)
        .map_err(|_| StoreError::Unavailable("the system gives no random bytes".to_owned()))?;
    let (id, secret) = random.split_at(8);
    let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!("{FRONT}.{id}.{}", URL_SAFE_NO_PAD.encode(secret));
    let hash = hash(&text);
    Ok((text, ApiKey { id, scopes, name: name.to_owned(), made_at: to_second(now), hash }))
}

/// The id in a text that has the form of a key.
pub(super) fn id_of(text: &str) -> Option<&str> {
    let (id, _) = text.strip_prefix(FRONT)?.strip_prefix('.')?.split_once('.')?;
    is_key_id(id).then_some(id)
}

impl ApiKey {
    /// Whether a text is this key.
    pub(super) fn is(&self, text: &str) -> bool {
        aws_lc_rs::constant_time::verify_slices_are_equal(&hash(text), &self.hash).is_ok()
    }

    /// Version (u8), scopes as bits (u8), seconds since 1970 (i64, little-endian), hash, name.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut to = vec![VERSION, self.scopes.bits()];
        to.extend(self.made_at.timestamp().to_le_bytes());
        to.extend(self.hash);
        to.extend(self.name.as_bytes());
        to
    }

    pub(super) fn decode(id: &str, bytes: &[u8]) -> Result<Self, StoreError> {
        read(id, bytes)
            .ok_or_else(|| StoreError::corrupt("an API key", format!("key {id}: its form is wrong")))
    }
}

fn read(id: &str, bytes: &[u8]) -> Option<ApiKey> {
    let (&[version, scopes], rest) = bytes.split_first_chunk()?;
    let (seconds, rest) = rest.split_first_chunk()?;
    let (&hash, name) = rest.split_first_chunk()?;
    if version != VERSION || !is_key_id(id) {
        return None;
    }
    Some(ApiKey {
        id: id.to_owned(),
        scopes: Scopes::of_bits(scopes)?,
        name: String::from_utf8(name.to_vec()).ok()?,
        made_at: Instant::from_timestamp(i64::from_le_bytes(*seconds), 0)?,
        hash,
    })
}

fn hash(text: &str) -> [u8; LENGTH] {
    let mut hash = [0; LENGTH];
    hash.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
    hash
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKey").field("id", &self.id).field("scopes", &self.scopes).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scope;

    fn key() -> (String, ApiKey) {
        let scopes = [Scope::Reports, Scope::Ops].into_iter().collect();
        made(scopes, "gateway", "2026-06-07T12:00:00.7Z".parse().unwrap()).unwrap()
    }

    #[test]
    fn a_key_is_known_by_its_text_alone() {
        let ((text, key), (other, _)) = (key(), key());
        assert_eq!(id_of(&text), Some(key.id.as_str()));
        assert!(key.is(&text) && !key.is(&other) && !key.is(&text[..text.len() - 1]));
        assert_eq!(text.len(), "sck1.".len() + 16 + 1 + 43);
        assert!(!format!("{key:?}").contains(&text[22..]));
        for bad in ["", "sck1", "sck1.abc.x", "sck2.0123456789abcdef.x", "sck1.0123456789ABCDEF.x"] {
            assert_eq!(id_of(bad), None, "{bad}");
        }
    }

    #[test]
    fn what_is_kept_comes_back() {
        let (_, key) = key();
        let bytes = key.encode();
        assert_eq!(ApiKey::decode(&key.id, &bytes).unwrap(), key);
        for end in 0..42 {
            assert!(ApiKey::decode(&key.id, &bytes[..end]).is_err(), "{end}");
        }
        assert!(ApiKey::decode(&key.id, &[&[2], &bytes[1..]].concat()).is_err());
        assert!(ApiKey::decode(&key.id, &[&[1, 0xff], &bytes[2..]].concat()).is_err());
    }
}
