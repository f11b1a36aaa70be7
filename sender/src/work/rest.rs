//! What of a batch comes again when others of it go on in batches of their own.

use std::time::Duration;

use job_queue::Batch;
use night_ledger::StoreError;

use super::chunks::{End, Work};

/// How long the rest of a batch waits whose work failed.
const FAILED: Duration = Duration::from_secs(5);

impl Work<'_> {
    /// Whether some of the batch are recorded in batches of their own.
    pub(super) fn is_apart(&self) -> bool {
        !self.elsewhere.is_empty()
    }

    /// The batch without those who are recorded in batches of their own, so that nobody is in the queue more often with
    /// each time it comes. It keeps its name: a lease on the batch holds for the rest of it, too.
    pub(super) fn rest(&self) -> Batch {
        let entries = self.batch.entries.iter().filter(|e| !self.elsewhere.contains(&e.position)).copied();
        Batch { entries: entries.collect(), ..self.batch.clone() }
    }

    /// A failure after some were set apart makes the rest wait: tried again whole, the batch would be taken apart once more
    /// at every try. What another try does not mend stays an error.
    pub(super) fn or_wait(&self, end: Result<End, StoreError>) -> Result<End, StoreError> {
        match end {
            Err(error) if self.is_apart() && !matches!(error, StoreError::Corrupt { .. }) => {
                tracing::warn!(channel = %self.line.name, %error, "the work on a batch failed; its rest waits");
                Ok(End::Wait(FAILED))
            }
            end => end,
        }
    }
}
