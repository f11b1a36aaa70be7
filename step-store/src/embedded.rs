mod feed;
mod reading;
mod tables;
mod writing;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant as RealInstant},
};

use async_trait::async_trait;
use domain::{Day, Instant, Uid};
use plumbing::File;

use self::tables::check_tables;
use crate::{
    Cursor, Entry, Outbox, Position, Read, Report, Reported, StepStore, StoreError, Totals,
    bounds::{ERASED_FOR, check_part, check_reports},
    work::units,
};

/// The step store in the embedded file: pages in the bytes that every engine has, worked out by the same code. What a call changes
/// is one step of the file.
pub struct EmbeddedSteps {
    file: Arc<File>,
    /// Who was erased a moment ago. It ends with the process: whoever has the file open is alone.
    erased: Mutex<HashMap<Uid, RealInstant>>,
}

impl EmbeddedSteps {
    /// The step store of `file`; fails where the file holds something else under its names. Nothing is written.
    pub fn open(file: Arc<File>) -> Result<Self, StoreError> {
        check_tables(&file)?;
        Ok(Self { file, erased: Mutex::default() })
    }

    /// Who was erased within the last minute.
    fn erased(&self) -> Vec<Uid> {
        let mut erased = self.erased.lock().unwrap_or_else(PoisonError::into_inner);
        erased.retain(|_, since| since.elapsed() < Duration::from_secs(ERASED_FOR));
        erased.keys().copied().collect()
    }
}

#[async_trait]
impl StepStore for EmbeddedSteps {
    async fn report(&self, reports: Vec<Report>, now: Instant) -> Result<Vec<Reported>, StoreError> {
        check_reports(reports.len())?;
        if reports.is_empty() {
            return Ok(Vec::new());
        }
        let (count, erased) = (reports.len(), self.erased());
        let units = units(reports);
        Ok(self.file.write(move |to| writing::report(to, &units, count, &erased, now)).await?)
    }

    async fn entry(&self, uid: Uid, day: Day) -> Result<Option<Entry>, StoreError> {
        reading::entry(&self.file, uid, day)
    }

    async fn read_many(&self, uids: &[Uid], day: Day) -> Result<Vec<Read>, StoreError> {
        reading::read_many(&self.file, uids, day)
    }

    async fn freeze(&self, to: Instant) -> Result<(), StoreError> {
        Ok(self.file.write(move |tables| feed::freeze(tables, to)).await?)
    }

    async fn frozen_to(&self) -> Result<Option<Instant>, StoreError> {
        feed::frozen_to(&self.file)
    }

    async fn erase(&self, uid: Uid) -> Result<(), StoreError> {
        self.erased.lock().unwrap_or_else(PoisonError::into_inner).insert(uid, RealInstant::now());
        Ok(self.file.write(move |to| writing::erase(to, uid)).await?)
    }

    async fn outbox(&self, part: u32) -> Result<Outbox, StoreError> {
        check_part(part)?;
        feed::outbox(&self.file, part)
    }

    async fn posted(&self, part: u32, upto: u64) -> Result<(), StoreError> {
        check_part(part)?;
        Ok(self.file.write(move |to| feed::posted(to, part, upto)).await?)
    }

    async fn position(&self, part: u32) -> Result<Position, StoreError> {
        check_part(part)?;
        feed::position(&self.file, part)
    }

    async fn totals(&self, part: u32, day: Day, from: Option<Cursor>) -> Result<Totals, StoreError> {
        check_part(part)?;
        reading::totals(&self.file, part, day, from)
    }

    async fn days(&self, part: u32) -> Result<Vec<Day>, StoreError> {
        check_part(part)?;
        reading::days(&self.file, part)
    }
}
