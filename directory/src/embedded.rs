mod names;
mod write;

use std::{ops::Bound, sync::Arc};

use async_trait::async_trait;
use domain::{ChannelName, Day, Instant, Uid, Zone};
use names::{Name, Names};
use plumbing::{File, FileError};
use redb::{Key, ReadOnlyTable, ReadTransaction, TableDefinition, TableError, Value};
use write::Tables;

use crate::{
    Applied, Change, Directory, Moved, RosterPage, RosterRow, StoreError, User, record,
    roster::{
        MOST_ROWS,
        entry::{self, Entry},
    },
};

/// A user's record, by uid.
const USERS: TableDefinition<u64, &[u8]> = TableDefinition::new("directory.users");
/// A user's roster entry, by uid: what the scheduler scans, apart from the records so that a scan is short.
const ROSTER: TableDefinition<u64, &[u8; entry::LENGTH]> = TableDefinition::new("directory.roster");
/// The zones the roster's ids stand for: name, users in it, users who moved out of it.
const ZONES: TableDefinition<u16, Name> = TableDefinition::new("directory.zones");
/// The channels the roster's bits stand for: name, users with a device on it, 0.
const CHANNELS: TableDefinition<u16, Name> = TableDefinition::new("directory.channels");

/// The most changes one call may hold.
const MOST_CHANGES: usize = 10_000;

/// The directory in the embedded file. A user's record, roster entry and the counts change in one step.
pub struct EmbeddedDirectory {
    file: Arc<File>,
}

impl EmbeddedDirectory {
    /// The directory of `file`; fails where the file holds something else under its names. Nothing is written.
    pub fn open(file: Arc<File>) -> Result<Self, StoreError> {
        let view = file.read()?;
        table(&view, USERS)?;
        table(&view, ROSTER)?;
        table(&view, ZONES)?;
        table(&view, CHANNELS)?;
        Ok(Self { file })
    }
}

#[async_trait]
impl Directory for EmbeddedDirectory {
    async fn apply(&self, changes: Vec<Change>, now: Instant) -> Result<Vec<Applied>, StoreError> {
        if changes.len() > MOST_CHANGES {
            return Err(StoreError::Full {
                what: "a call that changes the directory",
                limit: MOST_CHANGES as u64,
            });
        }
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let work = move |to: &redb::WriteTransaction| {
            let mut tables = Tables::open(to)?;
            let applied = changes.iter().map(|change| tables.apply(change, now)).collect::<Result<_, _>>()?;
            tables.save()?;
            Ok(applied)
        };
        Ok(self.file.write(work).await?)
    }

    async fn users(&self, uids: &[Uid]) -> Result<Vec<Option<User>>, StoreError> {
        let Some(users) = table(&self.file.read()?, USERS)? else { return Ok(vec![None; uids.len()]) };
        let read = |uid: &Uid| users.get(uid.0)?.map(|found| user_of(*uid, found.value())).transpose();
        Ok(uids.iter().map(read).collect::<Result<_, FileError>>()?)
    }

    async fn drop_device(
        &self,
        uid: Uid,
        channel: &ChannelName,
        address: &str,
        gone_at: Instant,
    ) -> Result<bool, StoreError> {
        let (channel, address) = (channel.clone(), address.to_owned());
        let work = move |to: &redb::WriteTransaction| {
            let mut tables = Tables::open(to)?;
            let dropped = tables.drop_device(uid, &channel, &address, gone_at)?;
            tables.save()?;
            Ok(dropped)
        };
        Ok(self.file.write(work).await?)
    }

    async fn roster(&self, after: Option<Uid>, limit: usize) -> Result<RosterPage, StoreError> {
        if limit > MOST_ROWS {
            return Err(StoreError::Full { what: "a page of the roster", limit: MOST_ROWS as u64 });
        }
        Ok(page(&self.file.read()?, after, limit)?)
    }

    async fn zones(&self) -> Result<Vec<(Zone, u64)>, StoreError> {
        let Some(zones) = table(&self.file.read()?, ZONES)? else { return Ok(Vec::new()) };
        let zones = Names::<Zone>::load(&zones, "a zone of the directory")?;
        let mut counts: Vec<_> = zones.used().collect();
        counts.sort_unstable_by_key(|(zone, _)| zone.name());
        Ok(counts)
    }
}

fn page(view: &ReadTransaction, after: Option<Uid>, limit: usize) -> Result<RosterPage, FileError> {
    let (Some(roster), Some(zones), Some(channels)) =
        (table(view, ROSTER)?, table(view, ZONES)?, table(view, CHANNELS)?)
    else {
        return Ok(RosterPage::default());
    };
    let zones = Names::<Zone>::load(&zones, "a zone of the directory")?;
    let channels = Names::<ChannelName>::load(&channels, "a channel of the directory")?;
    let start = after.map_or(Bound::Unbounded, |uid| Bound::Excluded(uid.0));
    let mut rows = Vec::new();
    for item in roster.range((start, Bound::Unbounded))?.take(limit) {
        let (uid, bytes) = item?;
        let row = row_of(Uid(uid.value()), bytes.value(), &zones);
        rows.push(row.ok_or_else(|| FileError::entry("a roster entry", format!("uid {}", uid.value())))?);
    }
    Ok(RosterPage { channels: channels.into_all(), rows })
}

/// The row of an entry; `None` where the entry is of another version or stands for nothing.
fn row_of(uid: Uid, bytes: &[u8; entry::LENGTH], zones: &Names<Zone>) -> Option<RosterRow> {
    let Entry { consent, zone, channels, due_from, moved } = Entry::decode(bytes)?;
    let moved = match moved {
        Some((from, last)) => Some(Moved { from: *zones.get(from)?, last: Day::from_number(last)? }),
        None => None,
    };
    let due_from = Instant::from_timestamp_millis(due_from)?;
    Some(RosterRow { uid, zone: *zones.get(zone)?, moved, consent, due_from, channels })
}

fn user_of(uid: Uid, record: &[u8]) -> Result<User, FileError> {
    record::decode(uid, record).map_err(|e| FileError::entry("a user's record", format!("uid {uid}: {e}")))
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

#[cfg(test)]
#[path = "embedded/tests.rs"]
mod tests;
