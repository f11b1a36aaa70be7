use domain::Day;
use plumbing::{File, FileError};
use redb::{Key, ReadOnlyTable, ReadableTable, TableDefinition, TableError, Value};

use crate::StoreError;

/// (the part, the `Day` as 20260607, the page).
pub(super) type PageKey = (u32, u32, u64);

/// A page's bytes. The part stands first, so that a part is read without the others.
pub(super) const PAGES: TableDefinition<PageKey, &[u8]> = TableDefinition::new("steps.pages");
/// An id of a report: the epoch, the uid, the id.
pub(super) const IDS: TableDefinition<(u32, u64, u64), ()> = TableDefinition::new("steps.ids");
/// How many ids a user has in an epoch.
pub(super) const COUNTS: TableDefinition<(u32, u64), u64> = TableDefinition::new("steps.id_counts");
/// The watermark, in ms since 1970, under 0.
pub(super) const FROZEN: TableDefinition<u8, i64> = TableDefinition::new("steps.frozen");
/// By part: the number of the last posting, of the last that is posted, and the bytes of the outbox.
pub(super) const FEED: TableDefinition<u32, (u64, u64, u64)> = TableDefinition::new("steps.feed");
/// Postings, by part and number.
pub(super) const OUTBOX: TableDefinition<(u32, u64), &[u8]> = TableDefinition::new("steps.outbox");

/// Fails where the file holds something else under a name.
pub(super) fn check_tables(file: &File) -> Result<(), StoreError> {
    table(file, PAGES)?;
    table(file, IDS)?;
    table(file, COUNTS)?;
    table(file, FROZEN)?;
    table(file, FEED)?;
    table(file, OUTBOX)?;
    Ok(())
}

/// A table as it stands now; `None` before the first write.
pub(super) fn table<K: Key + 'static, V: Value + 'static>(
    file: &File,
    which: TableDefinition<K, V>,
) -> Result<Option<ReadOnlyTable<K, V>>, FileError> {
    match file.read()?.open_table(which) {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The `Day`s for which a part has pages, in order. It goes from one to the next without those between.
pub(super) fn days_of(
    pages: &impl ReadableTable<PageKey, &'static [u8]>,
    part: u32,
) -> Result<Vec<Day>, FileError> {
    let mut days = Vec::new();
    let mut from = 0u32;
    while let Some(found) = pages.range((part, from, 0)..(part + 1, 0, 0))?.next() {
        let (_, number, _) = found?.0.value();
        let day = Day::from_number(number);
        days.push(
            day.ok_or_else(|| FileError::entry("a page of the step store", format!("{number} is no day")))?,
        );
        from = number + 1;
    }
    Ok(days)
}
