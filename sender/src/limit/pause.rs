use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::Wait;

/// A pause that everybody sees: the end of it in nanoseconds since the start, 0 before the first one. Monotonic time.
#[derive(Debug)]
pub(super) struct Pause {
    start: Instant,
    until: AtomicU64,
}

impl Pause {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), until: AtomicU64::new(0) }
    }

    /// Begins a pause of so long; a longer one that runs already stays.
    pub(super) fn set(&self, pause: Duration) {
        let end = nanos(self.start.elapsed().saturating_add(pause));
        self.until.fetch_max(end, Ordering::AcqRel);
    }

    /// What is left of it.
    pub(super) fn left(&self) -> Option<Duration> {
        let until = self.until.load(Ordering::Acquire);
        if until == 0 {
            return None;
        }
        let left = Duration::from_nanos(until).saturating_sub(self.start.elapsed());
        (!left.is_zero()).then_some(left)
    }

    /// Waits until it is over, if that is before `until`.
    pub(super) async fn wait(&self, until: Instant) -> Result<(), Wait> {
        while let Some(left) = self.left() {
            if left > until.saturating_duration_since(Instant::now()) {
                return Err(Wait(left));
            }
            sleep(left).await;
        }
        Ok(())
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
