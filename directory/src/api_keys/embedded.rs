use std::sync::Arc;

use async_trait::async_trait;
use plumbing::{File, FileError};
use redb::{ReadableTable, ReadableTableMetadata, TableDefinition, TableError};

use super::{ApiKey, ApiKeys, MOST_KEYS};
use crate::StoreError;

/// What is kept of a key, by its id.
const KEYS: TableDefinition<&str, &[u8]> = TableDefinition::new("directory.api_keys");

/// The API keys in the embedded file.
pub struct EmbeddedApiKeys {
    file: Arc<File>,
}

impl EmbeddedApiKeys {
    /// The keys of `file`; nothing is written.
    pub fn new(file: Arc<File>) -> Self {
        Self { file }
    }
}

#[async_trait]
impl ApiKeys for EmbeddedApiKeys {
    async fn add(&self, key: ApiKey) -> Result<(), StoreError> {
        let add = move |to: &redb::WriteTransaction| {
            let mut keys = to.open_table(KEYS)?;
            if keys.len()? >= MOST_KEYS as u64 {
                return Err(FileError::Full { what: "the API keys", limit: MOST_KEYS as u64 });
            }
            keys.insert(key.id.as_str(), key.encode().as_slice())?;
            Ok(())
        };
        Ok(self.file.write(add).await?)
    }

    async fn all(&self) -> Result<Vec<ApiKey>, StoreError> {
        let keys = match self.file.read()?.open_table(KEYS) {
            Ok(keys) => keys,
            Err(TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            Err(error) => return Err(FileError::from(error).into()),
        };
        let mut all = Vec::new();
        for found in keys.iter().map_err(FileError::from)? {
            let (id, bytes) = found.map_err(FileError::from)?;
            all.push(ApiKey::decode(id.value(), bytes.value())?);
        }
        Ok(all)
    }

    async fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        let revoke =
            move |to: &redb::WriteTransaction| Ok(to.open_table(KEYS)?.remove(id.as_str())?.is_some());
        Ok(self.file.write(revoke).await?)
    }
}
