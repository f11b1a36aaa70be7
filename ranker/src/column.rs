//! A copy of the step store's numbers, kept by the change feed: 200 friends are read from it in microseconds.
//!
//! It is right as far as it says. A gap in the numbers of a part's postings, a known number with other bytes, another lineage, or a
//! store that is behind what was heard makes it read that part from the store again.

mod days;
mod following;
mod part;
mod state;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant as RealInstant},
};

use domain::{Day, Uid};
use step_store::PARTS;

use self::part::Part;
pub use self::{following::follow, state::Status};

/// How long a change of the store may go unheard before the copy calls itself behind.
const BEHIND: Duration = Duration::from_secs(2);

/// The numbers of all users on the days that are kept.
pub struct Column {
    parts: Vec<Mutex<Part>>,
    /// When the positions of the parts were compared with the store's last.
    compared: Mutex<Option<RealInstant>>,
}

impl Column {
    /// One that knows nothing yet.
    pub fn new() -> Self {
        Self { parts: (0..PARTS).map(|_| Mutex::default()).collect(), compared: Mutex::default() }
    }

    /// The number of a user's `Day`; `None` where there is no entry, or none that was heard of.
    pub fn steps(&self, day: Day, uid: Uid) -> Option<u32> {
        self.part(step_store::part(uid)).days.get(day, uid)
    }

    /// Whether it has everything, as far as is known.
    pub fn status(&self) -> Status {
        let now = RealInstant::now();
        let compared = *self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = compared.is_some_and(|at| now - at <= BEHIND);
        let parts = (0..PARTS).filter(|part| !self.part(*part).state.is_current(now, BEHIND)).count();
        match (parts, fresh) {
            (0, true) => Status::Current,
            _ => Status::Behind { parts: u32::try_from(parts).unwrap_or(PARTS) },
        }
    }

    /// How long the change took to be heard of that was slowest lately; `None` before the first.
    pub fn lag(&self) -> Option<Duration> {
        (0..PARTS).filter_map(|part| self.part(part).state.lag).max()
    }

    /// About how many bytes of memory it takes.
    pub fn memory(&self) -> usize {
        (0..PARTS).map(|part| self.part(part).days.memory()).sum()
    }

    fn part(&self, part: u32) -> MutexGuard<'_, Part> {
        let place = usize::try_from(part).unwrap_or(0).min(self.parts.len() - 1);
        self.parts[place].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Column {
    fn default() -> Self {
        Self::new()
    }
}
