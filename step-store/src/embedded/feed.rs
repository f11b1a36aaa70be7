use plumbing::FileError;
use redb::{ReadTransaction, ReadableTable, WriteTransaction};

use super::tables::{FEED, OUTBOX, opened};
use crate::{
    Outbox, Posting,
    outbox::{MOST_KEPT, MOST_READ},
};

/// Adds a posting. Above the bound the oldest are dropped, which a reader sees as a gap.
pub(super) fn post(to: &WriteTransaction, part: u32, posting: &[u8]) -> Result<(), FileError> {
    let (mut feed, mut outbox) = (to.open_table(FEED)?, to.open_table(OUTBOX)?);
    let (last, posted, bytes) = feed.get(part)?.map_or((0, 0, 0), |held| held.value());
    outbox.insert((part, last + 1), posting)?;
    let mut bytes = bytes + posting.len() as u64;
    let mut oldest = outbox.extract_from_if(keys(part, last), |_, _| true)?;
    while bytes > MOST_KEPT as u64 {
        let Some(row) = oldest.next() else { break };
        bytes -= row?.1.value().len() as u64;
    }
    drop(oldest);
    feed.insert(part, (last + 1, posted, bytes))?;
    Ok(())
}

/// Forgets postings up to a number.
pub(super) fn posted(to: &WriteTransaction, part: u32, upto: u64) -> Result<(), FileError> {
    let (mut feed, mut outbox) = (to.open_table(FEED)?, to.open_table(OUTBOX)?);
    let Some((last, posted, mut bytes)) = feed.get(part)?.map(|held| held.value()) else { return Ok(()) };
    for row in outbox.extract_from_if(keys(part, upto), |_, _| true)? {
        bytes -= row?.1.value().len() as u64;
    }
    feed.insert(part, (last, posted.max(upto.min(last)), bytes))?;
    Ok(())
}

/// The oldest postings of a part.
pub(super) fn outbox(view: &ReadTransaction, part: u32) -> Result<Outbox, FileError> {
    let (last, posted) = ends(view, part)?;
    let mut found = Outbox { first: last + 1, postings: Vec::new(), posted, last };
    let Some(outbox) = opened(view, OUTBOX)? else { return Ok(found) };
    let mut bytes = 0;
    for row in outbox.range(keys(part, u64::MAX))? {
        let (key, posting) = row?;
        bytes += posting.value().len();
        if bytes > MOST_READ && !found.postings.is_empty() {
            break;
        }
        if found.postings.is_empty() {
            (_, found.first) = key.value();
        }
        found.postings.push(Posting::new(posting.value().to_vec().into()));
    }
    Ok(found)
}

/// The highest number of a part.
pub(super) fn last(view: &ReadTransaction, part: u32) -> Result<u64, FileError> {
    Ok(ends(view, part)?.0)
}

/// The highest number of a part, and the highest that was posted.
fn ends(view: &ReadTransaction, part: u32) -> Result<(u64, u64), FileError> {
    let Some(feed) = opened(view, FEED)? else { return Ok((0, 0)) };
    let held = feed.get(part)?.map_or((0, 0, 0), |held| held.value());
    Ok((held.0, held.1))
}

fn keys(part: u32, upto: u64) -> std::ops::RangeInclusive<(u32, u64)> {
    (part, 0)..=(part, upto)
}
