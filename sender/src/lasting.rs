use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use job_queue::DeadReason;

/// A message whose work failed so often in a way that another try does not mend is buried.
const MOST_FAILURES: u8 = 3;
/// The most messages watched at once. Each leaves when it is buried; so many different ones are a broken build.
const MOST_WATCHED: usize = 1_000;

/// Messages whose work panicked or met something unreadable, by hash, and how often.
#[derive(Clone, Default)]
pub(crate) struct Lasting(Arc<Mutex<HashMap<u64, (u8, DeadReason)>>>);

impl Lasting {
    /// Notes a failure.
    pub(crate) fn note(&self, message: &[u8], reason: DeadReason) {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.len() < MOST_WATCHED {
            let (count, last) = watched.entry(hash(message)).or_insert((0, reason));
            *count = count.saturating_add(1);
            *last = reason;
        }
    }

    /// Why the message is to be buried now, if it is.
    pub(crate) fn verdict(&self, message: &[u8]) -> Option<DeadReason> {
        let watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.get(&hash(message)).filter(|(count, _)| *count >= MOST_FAILURES).map(|(_, reason)| *reason)
    }

    /// Forgets a message that is buried or was worked after all.
    pub(crate) fn forget(&self, message: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&hash(message));
    }
}

fn hash(message: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(message)
}
