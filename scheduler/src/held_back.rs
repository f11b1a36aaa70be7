use std::time::{Duration, Instant};

use night_ledger::StoreError;

/// Something that failed and is not tried again at once: its first retry is immediate, the next ones wait longer and longer.
#[derive(Clone, Debug)]
pub(crate) struct HeldBack {
    error: StoreError,
    /// When it is tried again.
    until: Instant,
    /// How long it waits if it fails again.
    next: Duration,
}

/// How long it waits when its second try failed, doubled with each further one.
const WAIT: Duration = Duration::from_millis(250);
/// The longest such wait.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

impl HeldBack {
    /// What failed with `error`, at `now`, `before` as it was held back until then.
    pub(crate) fn new(error: StoreError, before: Option<&Self>, now: Instant) -> Self {
        let wait = before.map_or(Duration::ZERO, |held| held.next);
        Self { error, until: now + wait, next: (wait * 2).clamp(WAIT, LONGEST_WAIT) }
    }

    /// Its error, while it is not to be tried again yet.
    pub(crate) fn waits(&self, now: Instant) -> Option<&StoreError> {
        (self.until > now).then_some(&self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_grow_to_a_bound() {
        let now = Instant::now();
        let error = || StoreError::Unavailable("on purpose".into());
        let mut held = HeldBack::new(error(), None, now);
        assert!(held.waits(now).is_none(), "the first retry is immediate");
        for wait in [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000] {
            held = HeldBack::new(error(), Some(&held), now);
            let wait = Duration::from_millis(wait);
            assert!(held.waits(now + wait - Duration::from_millis(1)).is_some());
            assert!(held.waits(now + wait).is_none());
        }
    }
}
