mod feed;
mod reporting;
mod tables;

use std::{
    hash::{BuildHasher, RandomState},
    ops::Bound,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use domain::{Day, Instant, Uid};
use plumbing::{File, FileError};
use redb::{ReadableTable, WriteTransaction};

use self::{
    reporting::report,
    tables::{FROZEN, PAGES, PageKey, opened},
};
use crate::{
    Cursor, Entry, MOST_REPORTS, Outbox, Position, Read, Report, Reported, StepStore, StoreError, Totals,
    erased::Erased,
    outbox::{MOST_PAGES, unreadable},
    page::{self, Page},
    part,
    work::units,
};

/// The step store in the embedded file.
pub struct EmbeddedSteps {
    file: Arc<File>,
    /// Who was erased a moment ago. In memory: whoever has the file open is alone, and reports under way end with the
    /// process.
    erased: Arc<Mutex<Erased>>,
    /// What was answered is in the file after any end, so a lineage ends with whoever reads it.
    lineage: u64,
}

impl EmbeddedSteps {
    /// The step store of `file`; fails where the file holds something else under its names. Nothing is written.
    pub fn open(file: Arc<File>) -> Result<Self, StoreError> {
        tables::check(&file)?;
        Ok(Self { file, erased: Arc::default(), lineage: RandomState::new().hash_one(0) })
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&WriteTransaction) -> Result<T, FileError> + Send + 'static,
    ) -> Result<T, StoreError> {
        Ok(self.file.write(work).await?)
    }
}

#[async_trait]
impl StepStore for EmbeddedSteps {
    async fn report(&self, reports: Vec<Report>, now: Instant) -> Result<Vec<Reported>, StoreError> {
        if reports.len() > MOST_REPORTS {
            return Err(StoreError::Full { what: "a call of reports", limit: MOST_REPORTS as u64 });
        }
        if reports.is_empty() {
            return Ok(Vec::new());
        }
        let (units, erased) = (units(reports), Arc::clone(&self.erased));
        self.write(move |to| report(to, &units, &erased, now)).await
    }

    async fn entry(&self, uid: Uid, day: Day) -> Result<Option<Entry>, StoreError> {
        let Some(pages) = opened(&self.file.read()?, PAGES)? else { return Ok(None) };
        let Some(bytes) = pages.get(key(uid, day)).map_err(FileError::from)? else { return Ok(None) };
        Ok(Page::decode(bytes.value()).map_err(unreadable)?.entry(uid))
    }

    async fn read_many(&self, uids: &[Uid], day: Day) -> Result<Vec<Read>, StoreError> {
        let Some(pages) = opened(&self.file.read()?, PAGES)? else {
            return Ok(vec![Read::Steps(0); uids.len()]);
        };
        let read = |uid: &Uid| {
            let bytes = pages.get(key(*uid, day)).map_err(FileError::from)?;
            let number = bytes.map_or(Ok(0), |bytes| page::number(bytes.value(), *uid));
            Ok(number.map_or(Read::Unreadable, Read::Steps))
        };
        uids.iter().map(read).collect()
    }

    async fn freeze(&self, to: Instant) -> Result<(), StoreError> {
        let to = to.timestamp_millis();
        let work = move |file: &WriteTransaction| {
            let mut frozen = file.open_table(FROZEN)?;
            let held = frozen.get(0)?.map(|held| held.value());
            if held.is_none_or(|held| held < to) {
                frozen.insert(0, to)?;
            }
            Ok(())
        };
        self.write(work).await
    }

    async fn frozen_to(&self) -> Result<Option<Instant>, StoreError> {
        let Some(frozen) = opened(&self.file.read()?, FROZEN)? else { return Ok(None) };
        let held = frozen.get(0).map_err(FileError::from)?.map(|held| held.value());
        Ok(held.and_then(Instant::from_timestamp_millis))
    }

    async fn erase(&self, uid: Uid) -> Result<(), StoreError> {
        self.erased.lock().unwrap_or_else(PoisonError::into_inner).insert(uid, std::time::Instant::now());
        let unread = self.write(move |to| reporting::erase(to, uid)).await?;
        unread.map_or(Ok(()), |bad| Err(unreadable(bad)))
    }

    async fn outbox(&self, part: u32) -> Result<Outbox, StoreError> {
        Ok(feed::outbox(&self.file.read()?, part)?)
    }

    async fn posted(&self, part: u32, upto: u64) -> Result<(), StoreError> {
        self.write(move |to| feed::posted(to, part, upto)).await
    }

    async fn may_post(&self, _: u64, _: Duration) -> Result<bool, StoreError> {
        // whoever has the file open is alone
        Ok(true)
    }

    async fn position(&self, part: u32) -> Result<Position, StoreError> {
        let last = feed::last(&self.file.read()?, part)?;
        Ok(Position { lineage: self.lineage, last })
    }

    async fn totals(&self, part: u32, day: Day, from: Option<Cursor>) -> Result<Totals, StoreError> {
        let mut totals = Totals { totals: Vec::new(), next: None };
        let Some(pages) = opened(&self.file.read()?, PAGES)? else { return Ok(totals) };
        let first = from.map_or(0, |Cursor(page)| page);
        let range = pages.range((part, day.number(), first)..=(part, day.number(), u64::MAX));
        for (count, row) in range.map_err(FileError::from)?.enumerate() {
            let (key, bytes) = row.map_err(FileError::from)?;
            let (.., number) = key.value();
            if count == MOST_PAGES {
                totals.next = Some(Cursor(number));
                break;
            }
            if let Ok(page) = Page::decode(bytes.value()) {
                totals.totals.extend(page.numbers(number));
            }
        }
        Ok(totals)
    }

    async fn days(&self, part: u32) -> Result<Vec<Day>, StoreError> {
        let Some(pages) = opened(&self.file.read()?, PAGES)? else { return Ok(Vec::new()) };
        Ok(days(&pages, part)?)
    }
}

/// The key of the page of a user's `Day`.
fn key(uid: Uid, day: Day) -> PageKey {
    (part(uid), day.number(), Page::number_of(uid))
}

/// The `Day`s of a part, each found behind the pages of the one before.
fn days(pages: &impl ReadableTable<PageKey, &'static [u8]>, part: u32) -> Result<Vec<Day>, FileError> {
    let mut days = Vec::new();
    let mut from = Bound::Included((part, 0, 0));
    let end = Bound::Included((part, u32::MAX, u64::MAX));
    while let Some(row) = pages.range((from, end))?.next() {
        let (_, day, _) = row?.0.value();
        days.extend(Day::from_number(day));
        from = Bound::Excluded((part, day, u64::MAX));
    }
    Ok(days)
}
