use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use redb::{Database, DatabaseError, ReadTransaction, ReadableDatabase, WriteTransaction};
use tokio::sync::{mpsc, oneshot};

/// Why the embedded file could not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum FileError {
    /// Another process has the file open.
    #[error("{} is locked: another stepcast has it open", .0.display())]
    Locked(PathBuf),
    /// The file could not be opened or made.
    #[error("{} cannot be opened: {detail}", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the engine or the system said.
        detail: String,
    },
    /// The engine failed.
    #[error("the data file failed: {0}")]
    Engine(Arc<redb::Error>),
    /// An entry cannot be read.
    #[error("{what} cannot be read: {detail}")]
    Entry {
        /// Which kind of entry.
        what: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// A bound would be passed; nothing was written.
    #[error("{what} is full: its limit is {limit}")]
    Full {
        /// What has the bound.
        what: &'static str,
        /// The bound.
        limit: u64,
    },
    /// A piece of work panicked; nothing of it was written.
    #[error("a write panicked and was undone: {0}")]
    Panicked(String),
    /// The writer is gone.
    #[error("the data file is closed")]
    Closed,
}

impl FileError {
    /// An entry of kind `what` that cannot be read.
    pub fn entry(what: &'static str, detail: impl ToString) -> Self {
        Self::Entry { what, detail: detail.to_string() }
    }
}

impl<E: Into<redb::Error>> From<E> for FileError {
    fn from(error: E) -> Self {
        Self::Engine(Arc::new(error.into()))
    }
}

/// The one crash-safe file of an embedded installation: many readers, one writer thread that commits whatever
/// has gathered while it was busy with the last commit. What was answered survives a kill.
pub struct File {
    database: Arc<Database>,
    /// Taken only when the file is dropped.
    writer: Option<mpsc::Sender<Box<dyn Work>>>,
    thread: Option<thread::JoinHandle<()>>,
}

/// Pieces of work that may wait for the writer, and the most that share a commit.
const GROUP: usize = 512;
/// Bytes of file pages held in memory.
const CACHE: usize = 256 << 20;

impl File {
    /// Opens the file, or makes it with its folder.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let failed =
            |detail: &dyn ToString| FileError::Open { path: path.into(), detail: detail.to_string() };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| failed(&e))?;
        }
        // the engine panics on some damaged files
        let opened = catch_unwind(|| Database::builder().set_cache_size(CACHE).create(path));
        let database = match opened {
            Ok(Ok(database)) => Arc::new(database),
            Ok(Err(DatabaseError::DatabaseAlreadyOpen)) => return Err(FileError::Locked(path.into())),
            Ok(Err(error)) => return Err(failed(&error)),
            Err(panic) => return Err(failed(&format!("it is damaged: {}", text_of(panic.as_ref())))),
        };
        let (writer, jobs) = mpsc::channel(GROUP);
        let held = Arc::clone(&database);
        let thread = thread::Builder::new()
            .name("file-writer".into())
            .spawn(move || write_all(&held, jobs))
            .map_err(|e| failed(&e))?;
        Ok(Self { database, writer: Some(writer), thread: Some(thread) })
    }

    /// A view of the file as it stands now.
    pub fn read(&self) -> Result<ReadTransaction, FileError> {
        Ok(self.database.begin_read()?)
    }

    /// Runs `work` in a write transaction and answers when it is on disk. It shares its commit with others: when
    /// one of them fails, all are undone and the rest run again, so `work` must leave nothing behind but its writes.
    pub async fn write<T, F>(&self, work: F) -> Result<T, FileError>
    where
        T: Send + 'static,
        F: FnMut(&WriteTransaction) -> Result<T, FileError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Typed { work, result: None, reply });
        let writer = self.writer.as_ref().ok_or(FileError::Closed)?;
        writer.send(job).await.map_err(|_| FileError::Closed)?;
        answer.await.map_err(|_| FileError::Closed)?
    }
}

impl Drop for File {
    /// Waits for the writer, so that the file can be opened again as soon as this is gone.
    fn drop(&mut self) {
        self.writer = None;
        if let Some(thread) = self.thread.take() {
            // it catches the panics of its work, so there is no end of it to report
            let _ = thread.join();
        }
    }
}

trait Work: Send {
    fn run(&mut self, to: &WriteTransaction) -> Result<(), FileError>;
    fn answer(self: Box<Self>, end: Result<(), FileError>);
}

struct Typed<T, F> {
    work: F,
    result: Option<T>,
    reply: oneshot::Sender<Result<T, FileError>>,
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

/// What a panic said.
pub fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn write_all(database: &Database, mut jobs: mpsc::Receiver<Box<dyn Work>>) {
    let mut group = Vec::with_capacity(GROUP);
    while let Some(first) = jobs.blocking_recv() {
        group.push(first);
        while group.len() < GROUP
            && let Ok(more) = jobs.try_recv()
        {
            group.push(more);
        }
        commit(database, &mut group);
    }
}

/// Runs a group in one transaction. A failing piece of work is answered, and the others start over without it.
fn commit(database: &Database, group: &mut Vec<Box<dyn Work>>) {
    while !group.is_empty() {
        let end = catch_unwind(AssertUnwindSafe(|| attempt(database, group)))
            .unwrap_or_else(|panic| Err((None, FileError::Panicked(text_of(panic.as_ref())))));
        match end {
            Ok(()) => group.drain(..).for_each(|job| job.answer(Ok(()))),
            Err((Some(failed), error)) => group.remove(failed).answer(Err(error)),
            Err((None, error)) => group.drain(..).for_each(|job| job.answer(Err(error.clone()))),
        }
    }
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

#[cfg(test)]
mod tests {
    use redb::{ReadableTable, TableDefinition};

    use super::*;

    const TABLE: TableDefinition<u64, u64> = TableDefinition::new("test");

    async fn bump(file: &File, key: u64, fail: bool) -> Result<u64, FileError> {
        file.write(move |to| {
            let mut table = to.open_table(TABLE)?;
            let next = table.get(key)?.map_or(0, |v| v.value()) + 1;
            table.insert(key, next)?;
            if fail { Err(FileError::entry("test", "on purpose")) } else { Ok(next) }
        })
        .await
    }

    #[tokio::test]
    async fn a_failing_piece_leaves_its_neighbours_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(File::open(&folder.path().join("deep/data")).unwrap());
        let tasks: Vec<_> = (0..200u64)
            .map(|i| {
                tokio::spawn({
                    let file = Arc::clone(&file);
                    async move { bump(&file, i % 10, i % 7 == 0).await }
                })
            })
            .collect();
        let mut good = 0;
        for (i, task) in tasks.into_iter().enumerate() {
            let end = task.await.unwrap();
            assert_eq!(end.is_ok(), i % 7 != 0);
            good += u64::from(end.is_ok());
        }
        let table = file.read().unwrap().open_table(TABLE).unwrap();
        let sum: u64 = table.iter().unwrap().map(|row| row.unwrap().1.value()).sum();
        assert_eq!(sum, good);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_file_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::open(&folder.path().join("data")).unwrap();
        let end = file.write(|_| -> Result<(), FileError> { panic!("on purpose") }).await;
        assert!(matches!(end, Err(FileError::Panicked(text)) if text == "on purpose"));
        assert_eq!(bump(&file, 1, false).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_second_opening_says_locked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let _held = File::open(&path).unwrap();
        assert!(matches!(File::open(&path), Err(FileError::Locked(at)) if at == path));
    }
}
