use std::collections::BTreeSet;

use tokio::sync::{Mutex, MutexGuard};

use crate::PARTS;

/// One call at a time reports to a part: two from one process would mostly find each other's pages changed, and work them out
/// again. Calls of several processes may meet, and do.
pub(super) struct Turns(Vec<Mutex<()>>);

impl Turns {
    /// Waits until these parts are free, and holds them.
    pub(super) async fn take(&self, parts: impl Iterator<Item = u32>) -> Vec<MutexGuard<'_, ()>> {
        let mut held = Vec::new();
        // in one order, so that no two wait for each other
        for part in parts.collect::<BTreeSet<_>>() {
            if let Some(turn) = self.0.get(part as usize) {
                held.push(turn.lock().await);
            }
        }
        held
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self((0..PARTS).map(|_| Mutex::default()).collect())
    }
}
