use std::{io::ErrorKind, path::PathBuf, sync::Arc};

use redb::Error;

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
    Engine(Arc<Error>),
    /// The system could not read or write the file; nothing can be read or written until it is opened again.
    #[error("the data file failed and must be opened again: {0}")]
    Ended(String),
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

    /// The end of the file, where this is an error after which the engine answers nothing but errors.
    pub(super) fn end(&self) -> Option<Self> {
        let Self::Engine(error) = self else { return None };
        match &**error {
            Error::Io(io) => Some(Self::Ended(match io.kind() {
                ErrorKind::StorageFull => format!("the disk is full ({io})"),
                ErrorKind::QuotaExceeded => format!("the quota of the disk is used up ({io})"),
                ErrorKind::FileTooLarge => format!("the file may not grow any further ({io})"),
                _ => io.to_string(),
            })),
            Error::PreviousIo | Error::Backend(_) | Error::DatabaseClosed | Error::LockPoisoned(_) => {
                Some(Self::Ended(error.to_string()))
            }
            _ => None,
        }
    }
}

impl<E: Into<Error>> From<E> for FileError {
    fn from(error: E) -> Self {
        Self::Engine(Arc::new(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn what_the_engine_does_not_come_back_from_is_the_end() {
        let end = |error: Error| FileError::from(error).end().map(|end| end.to_string());
        let full = end(Error::Io(ErrorKind::StorageFull.into())).unwrap();
        assert!(full.contains("the disk is full"), "{full}");
        // ENOSPC and EIO, as the system gives them
        assert!(end(Error::Io(io::Error::from_raw_os_error(28))).unwrap().contains("the disk is full"));
        assert!(end(Error::Io(io::Error::from_raw_os_error(5))).is_some());
        assert!(end(Error::PreviousIo).is_some());
        assert_eq!(end(Error::ValueTooLarge(1)), None);
        assert_eq!(end(Error::TableDoesNotExist("x".into())), None);
        assert!(FileError::entry("test", "on purpose").end().is_none());
        assert!(FileError::Full { what: "test", limit: 1 }.end().is_none());
    }
}
