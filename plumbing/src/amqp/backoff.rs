use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

/// The first wait.
const SHORTEST: Duration = Duration::from_millis(100);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(2);

/// Waits between attempts: 100 ms, doubled each time up to 2 s, each cut by up to a half at random, so that many who lost
/// the same broker do not all come back at once.
#[derive(Clone, Debug)]
pub struct Backoff {
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: SHORTEST }
    }
}

impl Backoff {
    /// The wait before the next attempt.
    pub fn wait(&mut self) -> Duration {
        let full = self.next;
        self.next = (full * 2).min(LONGEST);
        // the seeds of the standard library's hash maps are random, which is enough for a jitter
        let percent = u32::try_from(RandomState::new().hash_one(0u8) % 51).unwrap_or(0);
        full - full * percent / 100
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_differ() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..40).map(|_| backoff.wait()).collect();
        for (n, wait) in waits.iter().enumerate() {
            let full = SHORTEST.saturating_mul(1 << n.min(10)).min(LONGEST);
            assert!((full / 2..=full).contains(wait), "{n}: {wait:?}");
        }
        assert!(waits[10..].iter().any(|wait| *wait != waits[10]));
    }
}
