use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::Instant;

use super::{RESTING, Wait};

/// Until when anything may be let through: in nanoseconds since the start, 0 for not at all, [`FOR_EVER`] without an end.
/// Monotonic time, asked at every push: a process that was stopped past its end pushes nothing when it goes on.
#[derive(Debug)]
pub(super) struct Leave {
    start: Instant,
    until: AtomicU64,
}

const FOR_EVER: u64 = u64::MAX;

impl Leave {
    pub(super) fn for_ever() -> Self {
        Self { start: Instant::now(), until: AtomicU64::new(FOR_EVER) }
    }

    /// Whether it stands now.
    pub(super) fn stands(&self) -> bool {
        let until = self.until.load(Ordering::Acquire);
        until == FOR_EVER || u128::from(until) > self.start.elapsed().as_nanos()
    }

    /// The same as an answer.
    pub(super) fn ask(&self) -> Result<(), Wait> {
        if self.stands() { Ok(()) } else { Err(Wait(RESTING)) }
    }

    /// Ends it now.
    pub(super) fn end(&self) {
        self.until.store(0, Ordering::Release);
    }

    /// Gives it until `until`.
    pub(super) fn until(&self, until: Instant) {
        let nanos = until.saturating_duration_since(self.start).as_nanos();
        self.until.store(u64::try_from(nanos).unwrap_or(FOR_EVER - 1), Ordering::Release);
    }
}
