use plumbing::{File, FileError};
use redb::{Key, ReadOnlyTable, ReadTransaction, TableDefinition, TableError, Value};

/// (part, `Day` as the number `20260607`, number of the page). A part stands first, because a part is read again as a whole.
pub(super) type PageKey = (u32, u32, u64);

/// The pages, without a revision: the file has one writer.
pub(super) const PAGES: TableDefinition<PageKey, &[u8]> = TableDefinition::new("steps.pages");

/// The ids of reports: (epoch, uid, id).
pub(super) const IDS: TableDefinition<(u32, u64, u64), ()> = TableDefinition::new("steps.ids");

/// How many ids a user has in an epoch: (epoch, uid).
pub(super) const COUNTS: TableDefinition<(u32, u64), u32> = TableDefinition::new("steps.id_counts");

/// The watermark, in ms since 1970, under 0: all parts are one file, so they have one.
pub(super) const FROZEN: TableDefinition<u8, i64> = TableDefinition::new("steps.frozen");

/// Of a part's postings: the highest number, the highest that was posted, how many bytes are kept.
pub(super) const FEED: TableDefinition<u32, (u64, u64, u64)> = TableDefinition::new("steps.feed");

/// The postings: (part, number).
pub(super) const OUTBOX: TableDefinition<(u32, u64), &[u8]> = TableDefinition::new("steps.outbox");

/// Fails where the file holds something else under one of the names.
pub(super) fn check(file: &File) -> Result<(), FileError> {
    let view = file.read()?;
    opened(&view, PAGES)?;
    opened(&view, IDS)?;
    opened(&view, COUNTS)?;
    opened(&view, FROZEN)?;
    opened(&view, FEED)?;
    opened(&view, OUTBOX)?;
    Ok(())
}

/// A table as it stands in a view; `None` before the first write.
pub(super) fn opened<K: Key + 'static, V: Value + 'static>(
    view: &ReadTransaction,
    table: TableDefinition<K, V>,
) -> Result<Option<ReadOnlyTable<K, V>>, FileError> {
    match view.open_table(table) {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
