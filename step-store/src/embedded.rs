use std::sync::Arc;

use async_trait::async_trait;
use domain::{Day, Uid};
use plumbing::{File, FileError};
use redb::{ReadOnlyTable, ReadableTable, TableDefinition, TableError};

use crate::{Add, Added, MOST_ADDS, MOST_STEPS, StepStore, StoreError};

/// (the day as a number, the uid).
type EntryKey = (u32, u64);

/// One entry a user-day: the key is (the day as the number `20260607`, the uid), the value the steps. Days stand
/// first because a night reads one `Day` for many users, and neighbouring uids share a page of the file.
const ENTRIES: TableDefinition<EntryKey, u32> = TableDefinition::new("steps.entries");

/// The step store in the embedded file.
pub struct EmbeddedSteps {
    file: Arc<File>,
}

impl EmbeddedSteps {
    /// The step store of `file`; fails where the file holds something else under its name. Nothing is written.
    pub fn open(file: Arc<File>) -> Result<Self, StoreError> {
        let store = Self { file };
        store.entries()?;
        Ok(store)
    }

    /// A view of the entries as they stand now; `None` before the first write.
    fn entries(&self) -> Result<Option<ReadOnlyTable<EntryKey, u32>>, FileError> {
        match self.file.read()?.open_table(ENTRIES) {
            Ok(table) => Ok(Some(table)),
            Err(TableError::TableDoesNotExist(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

#[async_trait]
impl StepStore for EmbeddedSteps {
    async fn add(&self, adds: Vec<Add>) -> Result<Vec<Added>, StoreError> {
        if adds.len() > MOST_ADDS {
            return Err(StoreError::Full { what: "a call that adds steps", limit: MOST_ADDS as u64 });
        }
        if adds.is_empty() {
            return Ok(Vec::new());
        }
        let work = move |to: &redb::WriteTransaction| {
            let mut entries = to.open_table(ENTRIES)?;
            adds.iter().map(|add| add_one(&mut entries, *add)).collect()
        };
        Ok(self.file.write(work).await?)
    }

    async fn read(&self, uid: Uid, day: Day) -> Result<u32, StoreError> {
        let Some(entries) = self.entries()? else { return Ok(0) };
        Ok(held(&entries, uid, day)?)
    }

    async fn read_many(&self, uids: &[Uid], day: Day) -> Result<Vec<u32>, StoreError> {
        let Some(entries) = self.entries()? else { return Ok(vec![0; uids.len()]) };
        Ok(uids.iter().map(|uid| held(&entries, *uid, day)).collect::<Result<_, _>>()?)
    }
}

fn add_one(entries: &mut redb::Table<'_, EntryKey, u32>, add: Add) -> Result<Added, FileError> {
    let before = held(entries, add.uid, add.day)?;
    match before.checked_add(add.steps).filter(|sum| *sum <= MOST_STEPS) {
        // an add of 0 leaves an entry too: that someone reported is told apart from that nobody did
        Some(sum) => {
            entries.insert((add.day.number(), add.uid.0), sum)?;
            Ok(Added::Stored(sum))
        }
        None => Ok(Added::TooMany),
    }
}

fn held(entries: &impl ReadableTable<EntryKey, u32>, uid: Uid, day: Day) -> Result<u32, FileError> {
    Ok(entries.get((day.number(), uid.0))?.map_or(0, |steps| steps.value()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_holds_something_else_under_the_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(File::open(&folder.path().join("data")).unwrap());
        let other: TableDefinition<u64, u64> = TableDefinition::new("steps.entries");
        file.write(move |to| Ok(to.open_table(other)?.insert(1, 1).map(|_| ())?)).await.unwrap();
        assert!(EmbeddedSteps::open(file).is_err());
    }
}
