//! Who may call the HTTP interfaces: keys with scopes. The store has a hash of each, never the key.
//!
//! A key is the text `sck1.<id>.<secret>`: the id 16 hexadecimal digits, the secret 32 random bytes in base64url without
//! padding. What is kept is the SHA-256 of the whole text. The secret has 256 bits of chance, so no slower hash is wanted.

mod embedded;
mod record;
mod redis;
mod ring;
mod scope;

use async_trait::async_trait;
use domain::Instant;

pub use self::{
    embedded::EmbeddedApiKeys,
    record::{ApiKey, LONGEST_KEY_NAME, made},
    redis::RedisApiKeys,
    ring::KeyRing,
    scope::{Scope, Scopes, UnknownScope},
};
use crate::StoreError;

/// The most keys there may be.
pub const MOST_KEYS: usize = 1_000;

/// The port of the API keys.
#[async_trait]
pub trait ApiKeys: Send + Sync {
    /// Adds a key. There are at most [`MOST_KEYS`].
    async fn add(&self, key: ApiKey) -> Result<(), StoreError>;

    /// All keys, by id.
    async fn all(&self) -> Result<Vec<ApiKey>, StoreError>;

    /// Takes a key away; whether it was there.
    async fn revoke(&self, id: &str) -> Result<bool, StoreError>;
}

/// Whether a text can be a key's id.
pub fn is_key_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// When a key was made, to the second.
fn to_second(at: Instant) -> Instant {
    Instant::from_timestamp(at.timestamp(), 0).unwrap_or(at)
}
