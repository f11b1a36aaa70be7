use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::RwLock;

use super::{ApiKey, ApiKeys, Scopes, record::id_of};
use crate::StoreError;

/// How old what is known of the keys may be: one that was revoked is refused after so long.
const FRESH: Duration = Duration::from_secs(1);
/// The same of a key that is not known: it may have been made a moment ago.
const FRESH_UNKNOWN: Duration = Duration::from_millis(50);
/// How old it may be while the store is away.
const STALE: Duration = Duration::from_secs(60);

/// The keys at hand, so that no request asks the store. One request at a time renews them.
pub struct KeyRing {
    keys: Arc<dyn ApiKeys>,
    known: RwLock<Known>,
}

#[derive(Default)]
struct Known {
    by_id: HashMap<String, ApiKey>,
    /// When they were read last, and when that was tried last.
    read: Option<Instant>,
    tried: Option<Instant>,
}

impl KeyRing {
    /// An empty one over the store.
    pub fn new(keys: Arc<dyn ApiKeys>) -> Self {
        Self { keys, known: RwLock::default() }
    }

    /// What a text that a caller showed is good for, and the id of its key; `None` where it is no key, or none any more.
    ///
    /// # Errors
    /// The store has been away for too long.
    pub async fn check(&self, text: &str) -> Result<Option<(String, Scopes)>, StoreError> {
        let Some(id) = id_of(text) else { return Ok(None) };
        if let Some(answer) = self.known.read().await.answer(id, text) {
            return Ok(answer);
        }
        let mut known = self.known.write().await;
        // another one may have been here first
        if let Some(answer) = known.answer(id, text) {
            return Ok(answer);
        }
        known.tried = Some(Instant::now());
        match self.keys.all().await {
            Ok(all) => {
                known.by_id = all.into_iter().map(|key| (key.id.clone(), key)).collect();
                known.read = Some(Instant::now());
            }
            Err(error) if known.read.is_none_or(|read| read.elapsed() > STALE) => return Err(error),
            Err(error) => tracing::warn!(%error, "API keys could not be read; those that were known hold on"),
        }
        Ok(known.look(id, text))
    }
}

impl Known {
    /// What is known, if that is new enough; outer `None` where it is not.
    fn answer(&self, id: &str, text: &str) -> Option<Option<(String, Scopes)>> {
        let most = if self.by_id.contains_key(id) { FRESH } else { FRESH_UNKNOWN };
        let fresh = |at: Option<Instant>| at.is_some_and(|at| at.elapsed() < most);
        let usable =
            fresh(self.read) || (fresh(self.tried) && self.read.is_some_and(|read| read.elapsed() < STALE));
        usable.then(|| self.look(id, text))
    }

    fn look(&self, id: &str, text: &str) -> Option<(String, Scopes)> {
        let key = self.by_id.get(id).filter(|key| key.is(text))?;
        Some((key.id.clone(), key.scopes))
    }
}
