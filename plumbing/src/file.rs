mod error;
mod writer;

use std::{
    fs::{DirBuilder, OpenOptions},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    panic::catch_unwind,
    path::Path,
    sync::Arc,
    thread,
};

use redb::{Database, DatabaseError, ReadTransaction, ReadableDatabase, WriteTransaction};
use tokio::sync::{mpsc, oneshot, watch};

pub use self::error::FileError;
use self::writer::{GROUP, Typed, Work, write_all};

/// The one crash-safe file of an embedded installation: many readers, one writer thread that commits whatever
/// has gathered while it was busy with the last commit. What was answered survives a kill.
///
/// Once the system fails to read or write the file, the engine answers nothing but errors until it is opened again: the
/// writer ends, [`File::ended`] tells, and the process has to be started anew.
pub struct File {
    database: Arc<Database>,
    /// Taken only when the file is dropped.
    writer: Option<mpsc::Sender<Box<dyn Work>>>,
    thread: Option<thread::JoinHandle<()>>,
    end: watch::Receiver<Option<FileError>>,
}

/// Bytes of file pages held in memory.
const CACHE: usize = 256 << 20;

impl File {
    /// Opens the file, or makes it with its folder.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let failed =
            |detail: &dyn ToString| FileError::Open { path: path.into(), detail: detail.to_string() };
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|e| failed(&e))?;
        }
        // names and push tokens are in it: for its owner alone
        let made =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        made.map_err(|e| failed(&e))?;
        // the engine panics on some damaged files
        let opened = catch_unwind(|| Database::builder().set_cache_size(CACHE).create(path));
        let database = match opened {
            Ok(Ok(database)) => database,
            Ok(Err(DatabaseError::DatabaseAlreadyOpen)) => return Err(FileError::Locked(path.into())),
            Ok(Err(error)) => return Err(failed(&error)),
            Err(panic) => return Err(failed(&format!("it is damaged: {}", text_of(panic.as_ref())))),
        };
        Self::over(database).map_err(|e| failed(&e))
    }

    fn over(database: Database) -> std::io::Result<Self> {
        let database = Arc::new(database);
        let ((writer, jobs), (told, end)) = (mpsc::channel(GROUP), watch::channel(None));
        let held = Arc::clone(&database);
        let thread =
            thread::Builder::new().name("file-writer".into()).spawn(move || write_all(&held, jobs, &told))?;
        Ok(Self { database, writer: Some(writer), thread: Some(thread), end })
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
        writer.send(job).await.map_err(|_| self.why())?;
        answer.await.map_err(|_| self.why())?
    }

    /// Waits until the file can no longer be written, and answers why.
    pub async fn ended(&self) -> FileError {
        // an error says that the writer went without a word
        let _ = self.end.clone().wait_for(Option::is_some).await;
        self.why()
    }

    fn why(&self) -> FileError {
        self.end.borrow().clone().unwrap_or(FileError::Closed)
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

/// What a panic said.
pub fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Error, ErrorKind},
        sync::atomic::{AtomicBool, Ordering},
    };

    use redb::{ReadableTable, StorageBackend, TableDefinition, backends::InMemoryBackend};

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
    async fn it_is_made_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/data");
        let _file = File::open(&path).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    #[tokio::test]
    async fn a_second_opening_says_locked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let _held = File::open(&path).unwrap();
        assert!(matches!(File::open(&path), Err(FileError::Locked(at)) if at == path));
    }

    /// A disk that can be filled.
    #[derive(Debug)]
    struct Disk {
        memory: InMemoryBackend,
        full: Arc<AtomicBool>,
    }

    impl Disk {
        fn room(&self) -> Result<(), Error> {
            if self.full.load(Ordering::SeqCst) { Err(ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    impl StorageBackend for Disk {
        fn len(&self) -> Result<u64, Error> {
            self.memory.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
            self.memory.read(offset, out)
        }

        fn set_len(&self, len: u64) -> Result<(), Error> {
            self.room()?;
            self.memory.set_len(len)
        }

        fn sync_data(&self) -> Result<(), Error> {
            self.memory.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> Result<(), Error> {
            self.room()?;
            self.memory.write(offset, data)
        }
    }

    #[tokio::test]
    async fn a_full_disk_ends_the_writer_and_says_so() {
        let full = Arc::new(AtomicBool::new(false));
        let disk = Disk { memory: InMemoryBackend::new(), full: Arc::clone(&full) };
        let file = File::over(Database::builder().create_with_backend(disk).unwrap()).unwrap();
        assert_eq!(bump(&file, 1, false).await.unwrap(), 1);
        assert!(bump(&file, 1, true).await.is_err());
        full.store(true, Ordering::SeqCst);
        let failed = bump(&file, 1, false).await.unwrap_err();
        assert!(matches!(&failed, FileError::Ended(why) if why.contains("the disk is full")), "{failed}");
        // room again is of no use to the engine: only another opening is
        full.store(false, Ordering::SeqCst);
        let ended = tokio::time::timeout(std::time::Duration::from_secs(60), file.ended()).await.unwrap();
        assert_eq!(ended.to_string(), failed.to_string());
        let after = bump(&file, 1, false).await.unwrap_err();
        assert_eq!(after.to_string(), failed.to_string());
    }
}
