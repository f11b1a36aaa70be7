use std::collections::{BTreeMap, HashSet};

use domain::{Instant, Uid};
use plumbing::FileError;
use redb::{ReadableTable, Table, WriteTransaction};

use super::{
    feed,
    reading::key,
    tables::{COUNTS, FROZEN, IDS, PAGES, PageKey, days_of},
};
use crate::{
    Reported,
    ids::Epoch,
    page::Page,
    part,
    posting::{self, put_changes},
    work::{Learnt, Pages, Unit, Work, work},
};

/// Ids of epochs that are over, forgotten with each call that adds some.
const FORGOTTEN: usize = 64;

/// The tables of pages and ids within one write.
struct Tables<'t> {
    pages: Table<'t, PageKey, &'static [u8]>,
    ids: Table<'t, (u32, u64, u64), ()>,
    counts: Table<'t, (u32, u64), u64>,
}

/// Takes all units; what each part posts of them is one posting.
pub(super) fn report(
    to: &WriteTransaction,
    units: &[Unit],
    count: usize,
    erased: &[Uid],
    now: Instant,
) -> Result<Vec<Reported>, FileError> {
    let mut tables = Tables::open(to)?;
    let frozen = to.open_table(FROZEN)?.get(0)?.map(|held| held.value());
    let mut answers = vec![Reported::Repeat(0); count];
    let mut postings = BTreeMap::<u32, Vec<u8>>::new();
    let mut added = 0;
    for unit in units {
        let mut learnt = Learnt { frozen, erased: erased.iter().copied().collect(), ..Learnt::default() };
        tables.look(unit, &mut learnt)?;
        let work = work(unit, tables.read(unit)?, &learnt);
        tables.write(unit.page, unit.part(), &work, &mut postings)?;
        added += work.ids.values().map(Vec::len).sum::<usize>();
        for ((place, _), answer) in unit.reports.iter().zip(&work.answers) {
            answers[*place] = *answer;
        }
    }
    if added > 0 {
        tables.forget(now)?;
    }
    drop(tables);
    post(to, &postings)?;
    Ok(answers)
}

pub(super) fn erase(to: &WriteTransaction, uid: Uid) -> Result<(), FileError> {
    let mut tables = Tables::open(to)?;
    let mut postings = BTreeMap::new();
    let days = days_of(&tables.pages, part(uid))?;
    for day in &days {
        let Some(bytes) = tables.pages.get(key(uid, *day))?.map(|held| held.value().to_vec()) else {
            continue;
        };
        let mut page = Page::decode(&bytes).map_err(|why| {
            FileError::entry("a page of the step store", format!("user {uid} on {day}: {why}"))
        })?;
        if page.remove(uid) {
            let mut work = Work::default();
            work.pages.insert(*day, page);
            work.changes.insert(*day, vec![(uid, None)]);
            tables.write(Page::number_of(uid), part(uid), &work, &mut postings)?;
        }
    }
    for epoch in days.iter().flat_map(|day| Epoch::each(Epoch::around(*day))).collect::<HashSet<_>>() {
        tables.counts.remove((epoch.0, uid.0))?;
        tables.ids.retain_in((epoch.0, uid.0, 0)..=(epoch.0, uid.0, u64::MAX), |_, ()| false)?;
    }
    drop(tables);
    post(to, &postings)
}

impl<'t> Tables<'t> {
    fn open(to: &'t WriteTransaction) -> Result<Self, FileError> {
        Ok(Self { pages: to.open_table(PAGES)?, ids: to.open_table(IDS)?, counts: to.open_table(COUNTS)? })
    }

    /// What is known of the ids of a unit's reports.
    fn look(&self, unit: &Unit, learnt: &mut Learnt) -> Result<(), FileError> {
        for ((uid, day), ids) in unit.ids() {
            let count = self.counts.get((Epoch::of(day).0, uid.0))?.map_or(0, |held| held.value());
            learnt.counts.insert((uid, Epoch::of(day)), usize::try_from(count).unwrap_or(usize::MAX));
            for id in ids {
                for epoch in Epoch::each(Epoch::around(day)) {
                    if self.ids.get((epoch.0, uid.0, id.0))?.is_some() {
                        learnt.known.insert((uid, id));
                    }
                }
            }
        }
        Ok(())
    }

    fn read(&self, unit: &Unit) -> Result<Pages, FileError> {
        let mut pages = Pages::new();
        for day in unit.days() {
            if let Some(held) = self.pages.get((unit.part(), day.number(), unit.page))? {
                let page = Page::decode(held.value()).inspect_err(|why| {
                    tracing::error!(%day, page = unit.page, %why, "a page of the step store cannot be read");
                });
                pages.insert(day, page.ok());
            }
        }
        Ok(pages)
    }

    fn write(
        &mut self,
        number: u64,
        part: u32,
        work: &Work,
        postings: &mut BTreeMap<u32, Vec<u8>>,
    ) -> Result<(), FileError> {
        for (day, page) in &work.pages {
            self.pages.insert((part, day.number(), number), page.encode().as_slice())?;
        }
        for ((uid, epoch), ids) in &work.ids {
            let held = self.counts.get((epoch.0, uid.0))?.map_or(0, |held| held.value());
            self.counts.insert((epoch.0, uid.0), held + ids.len() as u64)?;
            for id in ids {
                self.ids.insert((epoch.0, uid.0, id.0), ())?;
            }
        }
        for (day, changes) in &work.changes {
            let posting = postings.entry(part).or_insert_with(|| vec![posting::VERSION]);
            put_changes(posting, *day, Page::first(number), changes);
        }
        Ok(())
    }

    /// Forgets some ids whose time is over, so that they go as fast as others come.
    fn forget(&mut self, now: Instant) -> Result<(), FileError> {
        let mut gone = Vec::new();
        for found in self.ids.iter()?.take(FORGOTTEN) {
            let key = found?.0.value();
            if Epoch(key.0).ends() >= now {
                break;
            }
            gone.push(key);
        }
        for key in gone {
            self.ids.remove(key)?;
            self.counts.remove((key.0, key.1))?;
        }
        Ok(())
    }
}

fn post(to: &WriteTransaction, postings: &BTreeMap<u32, Vec<u8>>) -> Result<(), FileError> {
    postings.iter().try_for_each(|(part, posting)| feed::post(to, *part, posting))
}
