use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The memory that all bodies together may take: what is held of it goes back when the body is dropped.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Semaphore>);

/// Bytes of one permit: a body takes whole ones.
const PIECE: usize = 64 << 10;

/// A part of the budget.
#[derive(Debug)]
pub(super) struct Share {
    budget: Budget,
    held: Option<OwnedSemaphorePermit>,
    bytes: usize,
}

impl Budget {
    /// One of so many bytes.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes.div_ceil(PIECE).min(Semaphore::MAX_PERMITS))))
    }

    /// Nothing of it yet.
    pub(super) fn share(&self) -> Share {
        Share { budget: self.clone(), held: None, bytes: 0 }
    }
}

impl Share {
    /// Takes more until it is so many bytes; whether there was room.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes).div_ceil(PIECE);
        let Ok(more) = u32::try_from(more) else { return false };
        if more == 0 {
            return true;
        }
        let Ok(permit) = Arc::clone(&self.budget.0).try_acquire_many_owned(more) else { return false };
        match &mut self.held {
            Some(held) => held.merge(permit),
            None => self.held = Some(permit),
        }
        self.bytes += more as usize * PIECE;
        true
    }
}
