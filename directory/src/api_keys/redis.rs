use std::{collections::BTreeMap, sync::LazyLock};

use async_trait::async_trait;
use plumbing::{Command, Redis, Script};

use super::{ApiKey, ApiKeys, MOST_KEYS};
use crate::StoreError;

static ADD: LazyLock<Script> = LazyLock::new(|| Script::new("api keys, add", include_str!("add.lua")));

/// The API keys on Redis: the hash `{prefix}:{region}:{access}:api_keys`, by id what is kept of each.
pub struct RedisApiKeys {
    redis: Redis,
}

impl RedisApiKeys {
    /// The keys of a server or cluster; nothing is asked of it yet.
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }

    fn key(&self) -> String {
        self.redis.key("access", "api_keys")
    }
}

#[async_trait]
impl ApiKeys for RedisApiKeys {
    async fn add(&self, key: ApiKey) -> Result<(), StoreError> {
        let add = ADD.call(&[self.key()]).arg(MOST_KEYS).arg(key.id.as_str()).arg(key.encode());
        match self.redis.write::<u8>(add).await? {
            0 => Err(StoreError::Full { what: "the API keys", limit: MOST_KEYS as u64 }),
            _ => Ok(()),
        }
    }

    async fn all(&self) -> Result<Vec<ApiKey>, StoreError> {
        let all = Command::new("HGETALL").key(self.key());
        let found = self.redis.read::<BTreeMap<String, Vec<u8>>>(all).await?;
        found.iter().map(|(id, bytes)| ApiKey::decode(id, bytes)).collect()
    }

    async fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        let gone = Command::new("HDEL").key(self.key()).arg(id);
        Ok(self.redis.write::<u64>(gone).await? > 0)
    }
}
