use domain::{Day, Uid};
use plumbing::{File, FileError};

use super::tables::{PAGES, PageKey, days_of, table};
use crate::{
    Cursor, Entry, Read, StoreError, Totals,
    page::{self, Page},
    part,
};

/// Pages of one piece of totals.
const PIECE: usize = 512;

pub(super) fn key(uid: Uid, day: Day) -> PageKey {
    (part(uid), day.number(), Page::number_of(uid))
}

pub(super) fn entry(file: &File, uid: Uid, day: Day) -> Result<Option<Entry>, StoreError> {
    let Some(pages) = table(file, PAGES)? else { return Ok(None) };
    let Some(found) = pages.get(key(uid, day)).map_err(FileError::from)? else { return Ok(None) };
    let page = Page::decode(found.value()).map_err(|why| {
        let number = Page::number_of(uid);
        StoreError::corrupt("a page of the step store", format!("page {number} of {day}: {why}"))
    })?;
    Ok(page.entry(uid))
}

pub(super) fn read_many(file: &File, uids: &[Uid], day: Day) -> Result<Vec<Read>, StoreError> {
    let Some(pages) = table(file, PAGES)? else { return Ok(vec![Read::Steps(0); uids.len()]) };
    let read = |uid: &Uid| {
        Ok(match pages.get(key(*uid, day))? {
            Some(found) => page::number(found.value(), *uid).map_or(Read::Unreadable, Read::Steps),
            None => Read::Steps(0),
        })
    };
    Ok(uids.iter().map(read).collect::<Result<_, FileError>>()?)
}

pub(super) fn totals(file: &File, part: u32, day: Day, from: Option<Cursor>) -> Result<Totals, StoreError> {
    let mut piece = Totals { totals: Vec::new(), next: None };
    let Some(pages) = table(file, PAGES)? else { return Ok(piece) };
    let first = (part, day.number(), from.map_or(0, |cursor| cursor.0));
    let range = pages.range(first..=(part, day.number(), u64::MAX)).map_err(FileError::from)?;
    for (count, found) in range.enumerate() {
        let (key, bytes) = found.map_err(FileError::from)?;
        let (.., number) = key.value();
        if count == PIECE {
            piece.next = Some(Cursor(number));
            break;
        }
        if let Ok(page) = Page::decode(bytes.value()) {
            piece.totals.extend(page.numbers(number));
        }
    }
    Ok(piece)
}

pub(super) fn days(file: &File, part: u32) -> Result<Vec<Day>, StoreError> {
    let Some(pages) = table(file, PAGES)? else { return Ok(Vec::new()) };
    Ok(days_of(&pages, part)?)
}
