use std::sync::{Arc, PoisonError, RwLock};

/// Whether it is safe to push: shut while the stores that keep a push from being made twice cannot be trusted. While it is
/// shut nothing is taken off a queue, claimed or pushed, on any channel; a chunk that is in flight ends.
#[derive(Clone, Debug, Default)]
pub struct Guard(Arc<RwLock<Option<String>>>);

impl Guard {
    /// Shuts it, with the reason for whoever asks.
    pub fn shut(&self, why: impl Into<String>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(why.into());
    }

    /// Opens it.
    pub fn open(&self) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Why it is shut; `None` when it is open.
    pub fn why(&self) -> Option<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it is shut.
    pub fn is_shut(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
