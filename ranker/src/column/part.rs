use std::time::Instant as RealInstant;

use bytes::Bytes;
use job_queue::FeedMessage;
use step_store::Posting;
use xxhash_rust::xxh3::xxh3_64;

use super::{days::Days, state::State};

/// The copy of one part, and how far it is.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) days: Days,
    pub(super) state: State,
}

/// What came of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It is in, or was.
    In,
    /// It does not follow on what is known: the part has to be read again.
    Astray,
}

impl Part {
    /// Takes what a message has that is new.
    pub(super) fn take(&mut self, message: &FeedMessage, now: RealInstant) -> Taken {
        for (number, bytes) in (message.first..).zip(&message.postings) {
            // one that was never read is read anyway
            let Some(at) = self.state.at else { return Taken::Astray };
            let digest = xxh3_64(bytes);
            if number > at.last + 1 {
                return Taken::Astray;
            }
            if number <= at.last {
                // heard before, or older than what was read: unless the same number had other bytes
                if number == at.last && self.state.digest.is_some_and(|known| known != digest) {
                    return Taken::Astray;
                }
                continue;
            }
            if !self.apply(bytes) {
                return Taken::Astray;
            }
            self.state.heard(number, digest, now);
        }
        Taken::In
    }

    fn apply(&mut self, bytes: &Bytes) -> bool {
        let Ok(changes) = Posting::new(bytes.clone()).decode() else { return false };
        changes.into_iter().for_each(|changed| self.days.set(changed.day, changed.uid, changed.steps));
        true
    }
}
