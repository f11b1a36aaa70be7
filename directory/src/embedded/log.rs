use plumbing::FileError;
use redb::{ReadableTable, Table};

use crate::{
    Changed, Position,
    log::{KEPT, part_of},
};

/// Where the log of a part ends.
pub(super) fn head(
    log: &impl ReadableTable<(u32, u64), (u32, u64)>,
    part: u32,
) -> Result<Position, FileError> {
    let last = log.range((part, 0)..=(part, u64::MAX))?.next_back().transpose()?;
    Ok(last.map_or_else(Position::default, |(key, change)| Position {
        number: key.value().1,
        mark: change.value().1,
    }))
}

/// Adds a change of a page.
pub(super) fn add(
    log: &mut Table<'_, (u32, u64), (u32, u64)>,
    page: u32,
    stamp: u64,
) -> Result<(), FileError> {
    let part = part_of(page);
    let next = head(log, part)?.after(page, stamp);
    log.insert((part, next.number), (page, next.mark))?;
    if let Some(old) = next.number.checked_sub(KEPT) {
        log.remove((part, old))?;
    }
    Ok(())
}

/// What changed in a part since a position in it.
pub(super) fn changed(
    log: &impl ReadableTable<(u32, u64), (u32, u64)>,
    pages: &impl ReadableTable<(u32, u32), &'static [u8]>,
    part: u32,
    since: Position,
) -> Result<Changed, FileError> {
    let upto = head(log, part)?;
    if upto == since {
        return Ok(Changed { upto, ..Changed::default() });
    }
    let there = log.get((part, since.number))?.is_some_and(|change| change.value().1 == since.mark);
    if !there {
        let all = pages.range((part, 0)..=(part, u32::MAX))?;
        let pages = all.map(|item| Ok(item?.0.value().1)).collect::<Result<_, FileError>>()?;
        return Ok(Changed { upto, pages, whole: true });
    }
    let after = log.range((part, since.number + 1)..=(part, u64::MAX))?;
    let mut pages = after.map(|item| Ok(item?.1.value().0)).collect::<Result<Vec<_>, FileError>>()?;
    pages.sort_unstable();
    pages.dedup();
    Ok(Changed { upto, pages, whole: false })
}
