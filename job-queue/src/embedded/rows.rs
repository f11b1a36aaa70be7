//! The queue's tables in the embedded file.

use chrono::DateTime;
use domain::{ChannelName, Instant};
use plumbing::{
    File, FileError,
    redb::{
        Key, ReadOnlyTable, ReadTransaction, ReadableTable, ReadableTableMetadata, TableDefinition,
        TableError, Value, WriteTransaction,
    },
};

/// Sequence to channel, time it was put in (Unix ms) and message.
const ITEMS: TableDefinition<'_, u64, (&str, i64, &[u8])> = TableDefinition::new("queue.items");
/// Time it is due (Unix ms, real time) and sequence to channel and message. A message that has become due stays here
/// until it is acknowledged.
const LADDER: TableDefinition<'_, (i64, u64), (&str, &[u8])> = TableDefinition::new("queue.ladder");

/// Where a message is in the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// In the queue: when it was put in (Unix ms), and its sequence.
    Queue(i64, u64),
    /// In the ladder: when it is due (Unix ms), and its sequence.
    Ladder(i64, u64),
}

/// A message as it is stored.
pub(super) struct Row {
    pub(super) place: Place,
    pub(super) channel: ChannelName,
    pub(super) bytes: Vec<u8>,
}

impl Place {
    pub(super) fn sequence(self) -> u64 {
        let (Self::Queue(_, sequence) | Self::Ladder(_, sequence)) = self;
        sequence
    }

    /// When it was or will be ready.
    pub(super) fn since(self) -> i64 {
        let (Self::Queue(since, _) | Self::Ladder(since, _)) = self;
        since
    }
}

/// Stores messages, all or none; `most` bounds what queue and ladder then hold together.
pub(super) fn put(to: &WriteTransaction, rows: &[Row], most: u64) -> Result<(), FileError> {
    let mut items = to.open_table(ITEMS)?;
    let mut ladder = to.open_table(LADDER)?;
    for row in rows {
        let (channel, bytes) = (row.channel.as_str(), row.bytes.as_slice());
        match row.place {
            Place::Queue(put, sequence) => drop(items.insert(sequence, (channel, put, bytes))?),
            Place::Ladder(due, sequence) => drop(ladder.insert((due, sequence), (channel, bytes))?),
        }
    }
    if items.len()?.saturating_add(ladder.len()?) > most {
        return Err(FileError::Full { what: "the job queue", limit: most });
    }
    Ok(())
}

/// Takes a message out; one that is not there is no error.
pub(super) fn remove(to: &WriteTransaction, place: Place) -> Result<(), FileError> {
    match place {
        Place::Queue(_, sequence) => drop(to.open_table(ITEMS)?.remove(sequence)?),
        Place::Ladder(due, sequence) => drop(to.open_table(LADDER)?.remove((due, sequence))?),
    }
    Ok(())
}

/// A message's bytes; `None` when it is no longer there.
pub(super) fn bytes(file: &File, place: Place) -> Result<Option<Vec<u8>>, FileError> {
    let read = file.read()?;
    Ok(match place {
        Place::Queue(_, sequence) => match table(&read, ITEMS)? {
            Some(items) => items.get(sequence)?.map(|row| row.value().2.to_vec()),
            None => None,
        },
        Place::Ladder(due, sequence) => match table(&read, LADDER)? {
            Some(ladder) => ladder.get((due, sequence))?.map(|row| row.value().1.to_vec()),
            None => None,
        },
    })
}

/// Walks all messages, one at a time: a whole queue need not fit in memory.
pub(super) fn each(file: &File, mut then: impl FnMut(Place, ChannelName, &[u8])) -> Result<(), FileError> {
    let read = file.read()?;
    if let Some(items) = table(&read, ITEMS)? {
        for row in items.iter()? {
            let (sequence, row) = row?;
            let (channel, put, bytes) = row.value();
            time("queue.items", put)?;
            then(Place::Queue(put, sequence.value()), name("queue.items", channel)?, bytes);
        }
    }
    if let Some(ladder) = table(&read, LADDER)? {
        for row in ladder.iter()? {
            let (key, row) = row?;
            let (channel, bytes) = row.value();
            let (due, sequence) = key.value();
            time("queue.ladder", due)?;
            then(Place::Ladder(due, sequence), name("queue.ladder", channel)?, bytes);
        }
    }
    Ok(())
}

/// A table, if anything was ever written to it.
pub(super) fn table<K: Key + 'static, V: Value + 'static>(
    read: &ReadTransaction,
    of: TableDefinition<'_, K, V>,
) -> Result<Option<ReadOnlyTable<K, V>>, FileError> {
    match read.open_table(of) {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn name(what: &'static str, text: &str) -> Result<ChannelName, FileError> {
    text.parse().map_err(|e| FileError::entry(what, e))
}

pub(super) fn time(what: &'static str, ms: i64) -> Result<Instant, FileError> {
    DateTime::from_timestamp_millis(ms).ok_or_else(|| FileError::entry(what, format!("{ms} is not a time")))
}
