use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::BatchId;
use job_queue::{DeadReason, encoding};

/// A message whose work failed so often in a way that another try does not mend is buried.
const MOST_FAILURES: u8 = 3;
/// The most messages watched at once. Each leaves when it is worked or buried; one that another sender worked stays, until
/// it is the one whose last failure is longest ago.
const MOST_WATCHED: usize = 1_000;

/// Messages whose work panicked or met something unreadable, and how often.
#[derive(Clone, Default)]
pub(crate) struct Lasting(Arc<Mutex<Watched>>);

#[derive(Default)]
struct Watched {
    messages: HashMap<Name, Failures>,
    /// Failures noted so far.
    noted: u64,
}

/// A batch keeps its name when it is put back with another time; what is no batch has its hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    Batch(BatchId),
    Bytes(u64),
}

struct Failures {
    count: u8,
    reason: DeadReason,
    /// The number of the last one among all.
    last: u64,
}

impl Lasting {
    /// Notes a failure.
    pub(crate) fn note(&self, message: &[u8], reason: DeadReason) {
        let name = name(message);
        let mut watched = self.watched();
        watched.noted += 1;
        let last = watched.noted;
        if watched.messages.len() >= MOST_WATCHED && !watched.messages.contains_key(&name) {
            let oldest = watched.messages.iter().min_by_key(|(_, failures)| failures.last);
            if let Some(oldest) = oldest.map(|(name, _)| *name) {
                watched.messages.remove(&oldest);
            }
        }
        let failures = watched.messages.entry(name).or_insert(Failures { count: 0, reason, last });
        *failures = Failures { count: failures.count.saturating_add(1), reason, last };
    }

    /// Why the message is to be buried now, if it is.
    pub(crate) fn verdict(&self, message: &[u8]) -> Option<DeadReason> {
        let watched = self.watched();
        if watched.messages.is_empty() {
            return None;
        }
        let failures = watched.messages.get(&name(message))?;
        (failures.count >= MOST_FAILURES).then_some(failures.reason)
    }

    /// Forgets a message that is buried or was worked after all.
    pub(crate) fn forget(&self, message: &[u8]) {
        let mut watched = self.watched();
        if !watched.messages.is_empty() {
            watched.messages.remove(&name(message));
        }
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn name(message: &[u8]) -> Name {
    match encoding::decode(message) {
        Ok(batch) => Name::Batch(batch.id),
        Err(_) => Name::Bytes(xxhash_rust::xxh3::xxh3_64(message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_too_often_is_known_until_it_is_forgotten() {
        let lasting = Lasting::default();
        for _ in 1..MOST_FAILURES {
            lasting.note(b"bad", DeadReason::Panicked);
            assert_eq!(lasting.verdict(b"bad"), None);
        }
        lasting.note(b"bad", DeadReason::Unworkable);
        assert_eq!((lasting.verdict(b"bad"), lasting.verdict(b"good")), (Some(DeadReason::Unworkable), None));
        lasting.forget(b"bad");
        lasting.note(b"bad", DeadReason::Panicked);
        assert_eq!(lasting.verdict(b"bad"), None, "it starts over");
    }

    #[test]
    fn when_full_the_one_that_failed_longest_ago_gives_way() {
        let lasting = Lasting::default();
        let message = |n: usize| n.to_be_bytes();
        for n in 0..MOST_WATCHED {
            lasting.note(&message(n), DeadReason::Panicked);
        }
        lasting.note(&message(0), DeadReason::Panicked);
        for _ in 0..MOST_FAILURES {
            lasting.note(b"the newest", DeadReason::Panicked);
        }
        assert_eq!(lasting.verdict(b"the newest"), Some(DeadReason::Panicked));
        assert_eq!(lasting.watched().messages.len(), MOST_WATCHED);
        lasting.note(&message(0), DeadReason::Panicked);
        assert_eq!(lasting.verdict(&message(0)), Some(DeadReason::Panicked), "it was not the oldest");
        for _ in 1..MOST_FAILURES {
            lasting.note(&message(1), DeadReason::Panicked);
        }
        assert_eq!(lasting.verdict(&message(1)), None, "its first failure is forgotten");
    }
}
