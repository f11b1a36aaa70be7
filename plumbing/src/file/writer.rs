//! The one thread that writes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use redb::{Database, WriteTransaction};
use tokio::sync::{mpsc, oneshot, watch};

use super::{FileError, text_of};

/// Pieces of work that may wait for the writer, and the most that share a commit.
pub(super) const GROUP: usize = 512;

/// A piece of work and whoever waits for it.
pub(super) trait Work: Send {
    /// Does it in a transaction; called again when that was undone.
    fn run(&mut self, to: &WriteTransaction) -> Result<(), FileError>;
    /// Tells its end.
    fn answer(self: Box<Self>, end: Result<(), FileError>);
}

/// [`Work`] that answers a `T`.
pub(super) struct Typed<T, F> {
    pub(super) work: F,
    pub(super) result: Option<T>,
    pub(super) reply: oneshot::Sender<Result<T, FileError>>,
}

impl<T: Send, F> Work for Typed<T, F>
where
    F: FnMut(&WriteTransaction) -> Result<T, FileError> + Send,
{
    fn run(&mut self, to: &WriteTransaction) -> Result<(), FileError> {
        let done = catch_unwind(AssertUnwindSafe(|| (self.work)(to)));
        self.result = Some(done.unwrap_or_else(|panic| Err(FileError::Panicked(text_of(panic.as_ref()))))?);
        Ok(())
    }

    fn answer(self: Box<Self>, end: Result<(), FileError>) {
        let Self { result, reply, .. } = *self;
        let whole = end.and_then(|()| result.ok_or(FileError::Closed));
        // a caller that went away needs no answer
        let _ = reply.send(whole);
    }
}

/// Writes until nobody can ask any more, or until the file can no longer be written, which `end` then tells.
pub(super) fn write_all(
    database: &Database,
    mut jobs: mpsc::Receiver<Box<dyn Work>>,
    end: &watch::Sender<Option<FileError>>,
) {
    let mut group = Vec::with_capacity(GROUP);
    while let Some(first) = jobs.blocking_recv() {
        group.push(first);
        while group.len() < GROUP
            && let Ok(more) = jobs.try_recv()
        {
            group.push(more);
        }
        if let Err(error) = commit(database, &mut group) {
            // told first, so that nobody finds the writer gone without a reason
            end.send_replace(Some(error.clone()));
            group.drain(..).for_each(|job| job.answer(Err(error.clone())));
            return;
        }
    }
}

/// Runs a group in one transaction. A failing piece of work is answered, and the others start over without it. Fails, with
/// those that have no answer left in the group, when the file can no longer be written.
fn commit(database: &Database, group: &mut Vec<Box<dyn Work>>) -> Result<(), FileError> {
    while !group.is_empty() {
        let done = catch_unwind(AssertUnwindSafe(|| attempt(database, group)))
            .unwrap_or_else(|panic| Err((None, FileError::Panicked(text_of(panic.as_ref())))));
        match done {
            Ok(()) => group.drain(..).for_each(|job| job.answer(Ok(()))),
            Err((failed, error)) => match (error.end(), failed) {
                (Some(end), _) => return Err(end),
                (None, Some(failed)) => group.remove(failed).answer(Err(error)),
                (None, None) => group.drain(..).for_each(|job| job.answer(Err(error.clone()))),
            },
        }
    }
    Ok(())
}

fn attempt(database: &Database, group: &mut [Box<dyn Work>]) -> Result<(), (Option<usize>, FileError)> {
    let transaction = database.begin_write().map_err(|e| (None, e.into()))?;
    for (index, job) in group.iter_mut().enumerate() {
        if let Err(error) = job.run(&transaction) {
            drop(transaction); // undone
            return Err((Some(index), error));
        }
    }
    transaction.commit().map_err(|e| (None, e.into()))
}
