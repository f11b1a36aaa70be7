use std::{
    collections::{BTreeMap, HashSet},
    sync::{Mutex, PoisonError},
    time,
};

use domain::{Instant, Uid};
use plumbing::FileError;
use redb::{ReadableTable, Table, WriteTransaction};

use super::{
    days, feed,
    tables::{COUNTS, FROZEN, IDS, PAGES, PageKey},
};
use crate::{
    Reported,
    erased::Erased,
    ids::Epoch,
    page::{BadPage, Page},
    part,
    posting::{VERSION, put_changes},
    work::{Learnt, Pages, Unit, Work, work},
};

/// Old ids that one write forgets, beside twice as many as it adds.
const FORGOTTEN: usize = 16;

type PageTable<'a> = Table<'a, PageKey, &'static [u8]>;
type IdTable<'a> = Table<'a, (u32, u64, u64), ()>;
type CountTable<'a> = Table<'a, (u32, u64), u32>;

/// Everything that a report looks at or changes, but the postings.
struct Tables<'a> {
    pages: PageTable<'a>,
    ids: IdTable<'a>,
    counts: CountTable<'a>,
}

impl<'a> Tables<'a> {
    fn open(to: &'a WriteTransaction) -> Result<Self, FileError> {
        Ok(Self { pages: to.open_table(PAGES)?, ids: to.open_table(IDS)?, counts: to.open_table(COUNTS)? })
    }
}

/// Takes the reports of a call and answers each in its place.
pub(super) fn report(
    to: &WriteTransaction,
    units: &[Unit],
    erased: &Mutex<Erased>,
    now: Instant,
) -> Result<Vec<Reported>, FileError> {
    let mut tables = Tables::open(to)?;
    let frozen = to.open_table(FROZEN)?.get(0)?.map(|held| held.value());
    let (mut answers, mut postings) = (Vec::new(), BTreeMap::<_, Vec<u8>>::new());
    for unit in units {
        let worked = work(unit, pages(&tables.pages, unit)?, &learnt(&tables, unit, erased, frozen)?);
        store(&mut tables, unit, &worked, now)?;
        for (day, changes) in &worked.changes {
            let posting = postings.entry(unit.part()).or_insert_with(|| vec![VERSION]);
            put_changes(posting, *day, Page::first(unit.page), changes);
        }
        answers.extend(unit.reports.iter().map(|(place, _)| *place).zip(worked.answers));
    }
    for (part, posting) in postings {
        feed::post(to, part, &posting)?;
    }
    answers.sort_unstable_by_key(|(place, _)| *place);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}

/// Takes a user out of every page, and their ids; why a page could not be read, if one could not.
pub(super) fn erase(to: &WriteTransaction, uid: Uid) -> Result<Option<BadPage>, FileError> {
    let mut tables = Tables::open(to)?;
    let (part, number) = (part(uid), Page::number_of(uid));
    let (mut posting, mut unread) = (vec![VERSION], None);
    for day in days(&tables.pages, part)? {
        let key = (part, day.number(), number);
        let Some(page) = tables.pages.get(key)?.map(|bytes| Page::decode(bytes.value())) else { continue };
        let mut page = match page {
            Ok(page) => page,
            Err(bad) => {
                unread = Some(bad);
                continue;
            }
        };
        if page.remove(uid) {
            tables.pages.insert(key, page.encode().as_slice())?;
            put_changes(&mut posting, day, uid, &[(uid, None)]);
        }
    }
    if posting.len() > 1 {
        feed::post(to, part, &posting)?;
    }
    erase_ids(&mut tables, uid)?;
    Ok(unread)
}

fn pages(pages: &PageTable<'_>, unit: &Unit) -> Result<Pages, FileError> {
    let mut found = Pages::new();
    for day in unit.days() {
        if let Some(bytes) = pages.get((unit.part(), day.number(), unit.page))? {
            found.insert(day, Page::decode(bytes.value()).ok());
        }
    }
    Ok(found)
}

fn learnt(
    tables: &Tables<'_>,
    unit: &Unit,
    erased: &Mutex<Erased>,
    frozen: Option<i64>,
) -> Result<Learnt, FileError> {
    let mut learnt = Learnt { frozen, ..Learnt::default() };
    for ((uid, day), ids) in unit.ids() {
        for epoch in Epoch::each(Epoch::around(day)) {
            let Some(count) = tables.counts.get((epoch.0, uid.0))? else { continue };
            learnt.counts.insert((uid, epoch), count.value() as usize);
            for id in &ids {
                if tables.ids.get((epoch.0, uid.0, id.0))?.is_some() {
                    learnt.known.insert((uid, *id));
                }
            }
        }
    }
    let (erased, now) = (erased.lock().unwrap_or_else(PoisonError::into_inner), time::Instant::now());
    let uids: HashSet<Uid> = unit.reports.iter().map(|(_, report)| report.uid).collect();
    learnt.erased.extend(uids.into_iter().filter(|uid| erased.contains(*uid, now)));
    Ok(learnt)
}

fn store(tables: &mut Tables<'_>, unit: &Unit, worked: &Work, now: Instant) -> Result<(), FileError> {
    for (day, page) in &worked.pages {
        tables.pages.insert((unit.part(), day.number(), unit.page), page.encode().as_slice())?;
    }
    let mut added = 0;
    for ((uid, epoch), ids) in &worked.ids {
        for id in ids {
            tables.ids.insert((epoch.0, uid.0, id.0), ())?;
        }
        let held = tables.counts.get((epoch.0, uid.0))?.map_or(0, |count| count.value());
        let count = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        tables.counts.insert((epoch.0, uid.0), held.saturating_add(count))?;
        added += ids.len();
    }
    if added > 0 { forget(tables, FORGOTTEN + 2 * added, now) } else { Ok(()) }
}

/// Forgets some of the ids whose time is over.
fn forget(tables: &mut Tables<'_>, most: usize, now: Instant) -> Result<(), FileError> {
    for _ in 0..most {
        let Some((epoch, ..)) = tables.ids.first()?.map(|(key, _)| key.value()) else { break };
        if Epoch(epoch).ends() > now {
            break;
        }
        tables.ids.pop_first()?;
    }
    for _ in 0..most {
        let Some((epoch, _)) = tables.counts.first()?.map(|(key, _)| key.value()) else { break };
        if Epoch(epoch).ends() > now {
            break;
        }
        tables.counts.pop_first()?;
    }
    Ok(())
}

/// Forgets all ids of a user; epochs are found one behind the other.
fn erase_ids(tables: &mut Tables<'_>, uid: Uid) -> Result<(), FileError> {
    let mut from = Some(0);
    while let Some(first) = from {
        let Some(epoch) = epoch_from(&tables.counts, first)? else { break };
        tables.counts.remove((epoch, uid.0))?;
        for row in tables.ids.extract_from_if((epoch, uid.0, 0)..=(epoch, uid.0, u64::MAX), |_, ()| true)? {
            row?;
        }
        from = epoch.checked_add(1);
    }
    Ok(())
}

/// The first epoch at or after one that has ids.
fn epoch_from(counts: &CountTable<'_>, from: u32) -> Result<Option<u32>, FileError> {
    let first = counts.range((from, 0)..)?.next().transpose()?;
    Ok(first.map(|(key, _)| key.value().0))
}
