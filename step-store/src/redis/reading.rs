use std::collections::BTreeMap;

use domain::{Day, Uid};
use plumbing::{Command, Redis};

use super::keys::{self, Keys};
use crate::{
    Cursor, Entry, Read, StoreError, Totals,
    bounds::check_part,
    page::{self, Page},
    part,
};

/// Groups of pages that one piece of totals asks for, and pages that one command reads.
const GROUPS: u64 = 64;
const PAGES: usize = 512;

/// What stands in front of a page.
pub(super) const REVISION: usize = 4;

/// A page as it stands in the server: the revision and the bytes behind it.
pub(super) fn split(value: &[u8]) -> Option<(u32, &[u8])> {
    let (revision, bytes) = value.split_first_chunk::<REVISION>()?;
    Some((u32::from_le_bytes(*revision), bytes))
}

pub(super) async fn entry(redis: &Redis, uid: Uid, day: Day) -> Result<Option<Entry>, StoreError> {
    let number = Page::number_of(uid);
    let get = Command::new("GET").key(Keys::of(redis, part(uid)).page(day, number));
    let Some(value) = redis.read::<Option<Vec<u8>>>(get).await? else { return Ok(None) };
    let unreadable = |why: &dyn std::fmt::Display| {
        StoreError::corrupt("a page of the step store", format!("page {number} of {day}: {why}"))
    };
    let (_, bytes) = split(&value).ok_or_else(|| unreadable(&"it has no revision"))?;
    Ok(Page::decode(bytes).map_err(|why| unreadable(&why))?.entry(uid))
}

pub(super) async fn read_many(redis: &Redis, uids: &[Uid], day: Day) -> Result<Vec<Read>, StoreError> {
    // neighbours lie in one page, which is asked for once
    let mut order: Vec<_> = (0..uids.len()).collect();
    order.sort_unstable_by_key(|place| uids[*place]);
    let mut numbers: Vec<_> = order.iter().map(|place| Page::number_of(uids[*place])).collect();
    numbers.dedup();
    let values = redis.read_values(&keys::pages(redis, day, numbers.iter().copied())).await?;
    let mut read = vec![Read::Steps(0); uids.len()];
    let mut pages = numbers.iter().zip(&values).peekable();
    for place in order {
        let number = Page::number_of(uids[place]);
        while pages.peek().is_some_and(|(page, _)| **page < number) {
            pages.next();
        }
        if let Some((_, Some(value))) = pages.peek() {
            let steps = split(value).and_then(|(_, bytes)| page::number(bytes, uids[place]).ok());
            read[place] = steps.map_or(Read::Unreadable, Read::Steps);
        }
    }
    Ok(read)
}

/// Pages of any parts and `Day`s: their revisions and bytes.
pub(super) async fn pages(
    redis: &Redis,
    wanted: &BTreeMap<Day, Vec<u64>>,
) -> Result<BTreeMap<(Day, u64), Vec<u8>>, StoreError> {
    let mut found = BTreeMap::new();
    for (day, numbers) in wanted {
        let values = redis.read_values(&keys::pages(redis, *day, numbers.iter().copied())).await?;
        let there = numbers.iter().zip(values).filter_map(|(number, value)| Some(((*day, *number), value?)));
        found.extend(there);
    }
    Ok(found)
}

pub(super) async fn totals(
    redis: &Redis,
    part: u32,
    day: Day,
    from: Option<Cursor>,
) -> Result<Totals, StoreError> {
    check_part(part)?;
    let scan = Command::new("SSCAN").key(Keys::of(redis, part).groups(day));
    let scan = scan.arg(from.map_or(0, |cursor| cursor.0)).arg("COUNT").arg(GROUPS);
    let (next, groups) = redis.read::<(u64, Vec<u64>)>(scan).await?;
    let numbers: Vec<_> = groups.into_iter().flat_map(|group| keys::pages_of(part, group)).collect();
    let mut totals = Vec::new();
    for numbers in numbers.chunks(PAGES) {
        let values = redis.read_values(&keys::pages(redis, day, numbers.iter().copied())).await?;
        for (number, value) in numbers.iter().zip(values) {
            let page = value.as_deref().and_then(split).and_then(|(_, bytes)| Page::decode(bytes).ok());
            totals.extend(page.iter().flat_map(|page| page.numbers(*number)));
        }
    }
    Ok(Totals { totals, next: (next > 0).then_some(Cursor(next)) })
}

pub(super) async fn days(redis: &Redis, part: u32) -> Result<Vec<Day>, StoreError> {
    check_part(part)?;
    let members = Command::new("SMEMBERS").key(Keys::of(redis, part).days());
    let numbers = redis.read::<Vec<u32>>(members).await?;
    let day = |number: u32| {
        let wrong = || StoreError::corrupt("the days of the step store", format!("{number} is none"));
        Day::from_number(number).ok_or_else(wrong)
    };
    let mut days = numbers.into_iter().map(day).collect::<Result<Vec<_>, _>>()?;
    days.sort_unstable();
    Ok(days)
}
