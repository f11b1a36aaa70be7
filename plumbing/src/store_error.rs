use crate::FileError;

/// Why a store could not do what it was asked. The same type for every store and every engine behind one.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The engine did not answer or refused: worth another try later.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// An entry cannot be read: another try will not help.
    #[error("{what} cannot be read: {detail}")]
    Corrupt {
        /// Which kind of entry.
        what: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// The store is at a bound it was given.
    #[error("{what} is full: its limit is {limit}")]
    Full {
        /// What has the bound.
        what: &'static str,
        /// The bound.
        limit: u64,
    },
}

impl StoreError {
    /// An entry of kind `what` that cannot be read.
    pub fn corrupt(what: &'static str, detail: impl ToString) -> Self {
        Self::Corrupt { what, detail: detail.to_string() }
    }
}

impl From<FileError> for StoreError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Entry { what, detail } => Self::Corrupt { what, detail },
            FileError::Full { what, limit } => Self::Full { what, limit },
            other => Self::Unavailable(other.to_string()),
        }
    }
}
