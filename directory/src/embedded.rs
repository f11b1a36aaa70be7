mod log;
mod write;

use std::sync::Arc;

use async_trait::async_trait;
use domain::{ChannelName, Instant, Uid, Zone};
use plumbing::{File, FileError};
use redb::{
    Key, ReadOnlyTable, ReadTransaction, ReadableTable, TableDefinition, TableError, TableHandle, Value,
};
use write::Tables;

use crate::{
    Applied, Change, Changed, Directory, PARTS, Page, Position, StoreError, User, UserPatch,
    bounds::{check_changes, check_pages},
    edit::Step,
    record::Decoder,
};

/// A user's record, by uid.
const USERS: TableDefinition<u64, &[u8]> = TableDefinition::new("directory.users");
/// A page, by its part and number.
const PAGES: TableDefinition<(u32, u32), &[u8]> = TableDefinition::new("directory.pages");
/// The change log, by part and number of the change: the page, and the mark after it.
const LOG: TableDefinition<(u32, u64), (u32, u64)> = TableDefinition::new("directory.log");
/// By zone: the users in it, and the users who moved out of it.
const ZONES: TableDefinition<&str, (u64, u64)> = TableDefinition::new("directory.zone_users");
/// What stood in the place of the pages before there were any; no release had it.
const BEFORE_PAGES: &str = "directory.roster";

/// The directory in the embedded file. A user's record, page and the counts change in one step.
pub struct EmbeddedDirectory {
    file: Arc<File>,
}

impl EmbeddedDirectory {
    /// The directory of `file`; fails where the file holds something else under its names. Nothing is written.
    pub fn open(file: Arc<File>) -> Result<Self, StoreError> {
        let view = file.read()?;
        if view.list_tables().map_err(FileError::from)?.any(|table| table.name() == BEFORE_PAGES) {
            let detail = "it was made before the directory had pages: import the users into a new file";
            return Err(StoreError::corrupt("the directory of the file", detail));
        }
        table(&view, USERS)?;
        table(&view, PAGES)?;
        table(&view, LOG)?;
        table(&view, ZONES)?;
        Ok(Self { file })
    }

    async fn take(&self, steps: Vec<Step>, now: Instant) -> Result<Vec<Applied>, StoreError> {
        Ok(self.file.write(move |to| Tables::open(to)?.take(&steps, now)).await?)
    }
}

#[async_trait]
impl Directory for EmbeddedDirectory {
    async fn apply(&self, changes: Vec<Change>, now: Instant) -> Result<Vec<Applied>, StoreError> {
        check_changes(changes.len())?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        self.take(changes.into_iter().map(Step::from).collect(), now).await
    }

    async fn patch(&self, patch: UserPatch, now: Instant) -> Result<Applied, StoreError> {
        let applied = self.take(vec![Step::Patch(patch)], now).await?;
        Ok(applied.into_iter().next().unwrap_or(Applied::Absent))
    }

    async fn users(&self, uids: &[Uid]) -> Result<Vec<Option<User>>, StoreError> {
        let Some(users) = table(&self.file.read()?, USERS)? else { return Ok(vec![None; uids.len()]) };
        let mut decoder = Decoder::default();
        let read = |uid: &Uid| {
            let found = users.get(uid.0).map_err(FileError::from)?;
            found.map(|found| decoder.user(*uid, found.value())).transpose()
        };
        uids.iter().map(read).collect()
    }

    async fn drop_device(
        &self,
        uid: Uid,
        channel: &ChannelName,
        address: &str,
        gone_at: Instant,
    ) -> Result<bool, StoreError> {
        let step = Step::Drop { uid, channel: channel.clone(), address: address.to_owned(), gone_at };
        Ok(self.take(vec![step], gone_at).await? == [Applied::Updated])
    }

    async fn changed(&self, since: &[Position]) -> Result<Vec<Changed>, StoreError> {
        let view = self.file.read()?;
        let (Some(log), Some(pages)) = (table(&view, LOG)?, table(&view, PAGES)?) else {
            // nothing was ever written
            return Ok((0..PARTS).map(|_| Changed { whole: true, ..Changed::default() }).collect());
        };
        let since = since.iter().copied().chain(std::iter::repeat(Position::default()));
        let changed = (0..PARTS).zip(since).map(|(part, since)| log::changed(&log, &pages, part, since));
        Ok(changed.collect::<Result<_, FileError>>()?)
    }

    async fn pages(&self, part: u32, numbers: &[u32]) -> Result<Vec<Option<Page>>, StoreError> {
        check_pages(part, numbers)?;
        let Some(pages) = table(&self.file.read()?, PAGES)? else { return Ok(vec![None; numbers.len()]) };
        let page = |number: &u32| {
            let found = pages.get((part, *number))?;
            Ok(found.map(|found| Page::new(*number, found.value().to_vec())))
        };
        Ok(numbers.iter().map(page).collect::<Result<_, FileError>>()?)
    }

    async fn zones(&self) -> Result<Vec<(Zone, u64)>, StoreError> {
        let Some(zones) = table(&self.file.read()?, ZONES)? else { return Ok(Vec::new()) };
        let mut counts = Vec::new();
        for item in zones.iter().map_err(FileError::from)? {
            let (name, count) = item.map_err(FileError::from)?;
            let zone = name.value().parse().map_err(|e| StoreError::corrupt("a zone of the directory", e))?;
            counts.push((zone, count.value().0));
        }
        Ok(counts)
    }
}

/// A table as `view` sees it; `None` before the first write.
fn table<K: Key + 'static, V: Value + 'static>(
    view: &ReadTransaction,
    which: TableDefinition<K, V>,
) -> Result<Option<ReadOnlyTable<K, V>>, FileError> {
    match view.open_table(which) {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
