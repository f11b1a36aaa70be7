//! Dead letters in the embedded file. There are at most so many of them, for at most so long.

use std::sync::Arc;

use domain::{ChannelName, Instant};
use plumbing::{
    File, FileError,
    redb::{ReadableTable, ReadableTableMetadata, TableDefinition, WriteTransaction},
};

use super::{
    rows::{name, table, time},
    shared::Shared,
};
use crate::{DeadId, DeadLetter, StoreError};

/// Id to channel, reason, detail, time (Unix ms) and message.
const DEAD: TableDefinition<'_, u64, (&str, &str, &str, i64, &[u8])> = TableDefinition::new("queue.dead");
/// The highest id that was ever given, so that none is given twice.
const LAST_ID: TableDefinition<'_, (), u64> = TableDefinition::new("queue.dead_last_id");

/// The most bytes of messages that one reading gathers, its last letter aside.
const PAGE: usize = 16 << 20;
/// Letters that one write looks at to find the old ones.
const LOOK: usize = 1_000;

/// Stores a letter. Those that give way for it are counted off and named in the log.
pub(super) async fn bury(shared: &Arc<Shared>, letter: DeadLetter, most: u64) -> Result<(), StoreError> {
    let channel = letter.channel.clone();
    shared.with(&channel, |_| ())?;
    let then = move |shared: &Shared, lost: Vec<Lost>| {
        shared.look(&channel, |c| c.buried());
        for Lost { id, channel, reason, at } in lost {
            tracing::error!(id, channel, reason, %at, most, "the dead letters are full: the oldest one is lost");
            gone(shared, &channel);
        }
    };
    shared.write(move |to| bury_in(to, &letter, most), then).await
}

/// Takes letters off by their ids; those that are not there are no error.
pub(super) async fn take(shared: &Arc<Shared>, ids: Vec<DeadId>) -> Result<u64, StoreError> {
    if ids.is_empty() {
        return Ok(0);
    }
    let (tell, told) = tokio::sync::oneshot::channel();
    let then = move |shared: &Shared, taken: Vec<String>| {
        taken.iter().for_each(|channel| gone(shared, channel));
        // whoever stopped waiting needs no answer
        let _ = tell.send(taken.len());
    };
    shared.write(move |to| take_in(to, &ids), then).await?;
    let taken = told.await.map_err(|e| StoreError::Unavailable(e.to_string()))?;
    Ok(u64::try_from(taken).unwrap_or(u64::MAX))
}

/// Forgets letters that were given up before `before`. Later letters were given up later, but for steps of the clock: so it
/// ends where a whole look finds nothing to forget.
pub(super) async fn forget(shared: &Arc<Shared>, before: Instant) -> Result<u64, StoreError> {
    let (mut count, mut after) = (0, None);
    loop {
        let (tell, told) = tokio::sync::oneshot::channel();
        let then = move |shared: &Shared, look: Look| {
            look.forgotten.iter().for_each(|channel| gone(shared, channel));
            // whoever stopped waiting needs no answer
            let _ = tell.send((look.forgotten.len(), look.last));
        };
        shared.write(move |to| forget_in(to, after, before.timestamp_millis()), then).await?;
        let (forgotten, last) = told.await.map_err(|e| StoreError::Unavailable(e.to_string()))?;
        count += u64::try_from(forgotten).unwrap_or(u64::MAX);
        if forgotten == 0 || last.is_none() {
            return Ok(count);
        }
        after = last;
    }
}

/// Up to `limit` letters after an id, fewer when they are very long.
pub(super) fn list(
    file: &File,
    after: Option<DeadId>,
    limit: usize,
) -> Result<Vec<(DeadId, DeadLetter)>, FileError> {
    let first = match after {
        Some(DeadId(u64::MAX)) => return Ok(Vec::new()),
        Some(DeadId(id)) => id + 1,
        None => 0,
    };
    let Some(dead) = table(&file.read()?, DEAD)? else { return Ok(Vec::new()) };
    let mut letters = Vec::new();
    let mut size = 0;
    for row in dead.range(first..)?.take(limit) {
        let (id, row) = row?;
        let (channel, reason, detail, at, bytes) = row.value();
        size += bytes.len();
        letters.push((
            DeadId(id.value()),
            DeadLetter {
                channel: name("queue.dead", channel)?,
                reason: reason.parse().map_err(|e| FileError::entry("queue.dead", e))?,
                detail: detail.to_owned(),
                at: time("queue.dead", at)?,
                bytes: bytes.to_vec(),
            },
        ));
        if size > PAGE {
            break;
        }
    }
    Ok(letters)
}

/// Walks the channels of all letters.
pub(super) fn each(file: &File, mut then: impl FnMut(ChannelName)) -> Result<(), FileError> {
    if let Some(dead) = table(&file.read()?, DEAD)? {
        for row in dead.iter()? {
            then(name("queue.dead", row?.1.value().0)?);
        }
    }
    Ok(())
}

/// A letter that gave way.
struct Lost {
    id: u64,
    channel: String,
    reason: String,
    at: Instant,
}

/// What one look at some letters found.
struct Look {
    /// The channels of the letters it forgot.
    forgotten: Vec<String>,
    /// The last letter it looked at; `None` when there was no more.
    last: Option<u64>,
}

fn bury_in(to: &WriteTransaction, letter: &DeadLetter, most: u64) -> Result<Vec<Lost>, FileError> {
    let mut dead = to.open_table(DEAD)?;
    let mut last_id = to.open_table(LAST_ID)?;
    let given = last_id.get(())?.map_or(0, |id| id.value());
    let id = dead.last()?.map_or(0, |(id, _)| id.value()).max(given).saturating_add(1);
    last_id.insert((), id)?;
    let mut lost = Vec::new();
    while dead.len()? >= most.max(1)
        && let Some((id, row)) = dead.pop_first()?
    {
        let (channel, reason, _, at, _) = row.value();
        let at = Instant::from_timestamp_millis(at).unwrap_or_default();
        lost.push(Lost { id: id.value(), channel: channel.to_owned(), reason: reason.to_owned(), at });
    }
    let DeadLetter { channel, reason, detail, at, bytes } = letter;
    let row = (channel.as_str(), reason.as_str(), detail.as_str(), at.timestamp_millis(), bytes.as_slice());
    dead.insert(id, row)?;
    Ok(lost)
}

/// The channels of the letters it took off.
fn take_in(to: &WriteTransaction, ids: &[DeadId]) -> Result<Vec<String>, FileError> {
    let mut dead = to.open_table(DEAD)?;
    let mut taken = Vec::new();
    for id in ids {
        if let Some(row) = dead.remove(id.0)? {
            taken.push(row.value().0.to_owned());
        }
    }
    Ok(taken)
}

fn forget_in(to: &WriteTransaction, after: Option<u64>, before: i64) -> Result<Look, FileError> {
    let mut dead = to.open_table(DEAD)?;
    let first = after.map_or(0, |id| id.saturating_add(1));
    let (mut old, mut seen) = (Vec::new(), 0);
    let mut look = Look { forgotten: Vec::new(), last: None };
    for row in dead.range(first..)?.take(LOOK) {
        let (id, row) = row?;
        let (channel, .., at, _) = row.value();
        if at < before {
            look.forgotten.push(channel.to_owned());
            old.push(id.value());
        }
        look.last = Some(id.value());
        seen += 1;
    }
    if seen < LOOK {
        look.last = None;
    }
    for id in old {
        dead.remove(id)?;
    }
    Ok(look)
}

fn gone(shared: &Shared, channel: &str) {
    if let Ok(channel) = channel.parse() {
        shared.look(&channel, |c| c.forgotten());
    }
}
