use domain::{Instant, Zone};
use plumbing::FileError;
use redb::{ReadableTable, Table, WriteTransaction};

use super::{LOG, PAGES, USERS, ZONES, log};
use crate::{
    Applied,
    edit::{Edit, Step, Write, by_page},
    log::part_of,
};

/// The directory's tables within one write: records, pages, the change log and the counts are changed here together.
pub(super) struct Tables<'t> {
    users: Table<'t, u64, &'static [u8]>,
    pages: Table<'t, (u32, u32), &'static [u8]>,
    log: Table<'t, (u32, u64), (u32, u64)>,
    zones: Table<'t, &'static str, (u64, u64)>,
}

impl<'t> Tables<'t> {
    pub(super) fn open(to: &'t WriteTransaction) -> Result<Self, FileError> {
        Ok(Self {
            users: to.open_table(USERS)?,
            pages: to.open_table(PAGES)?,
            log: to.open_table(LOG)?,
            zones: to.open_table(ZONES)?,
        })
    }

    /// Takes steps, page by page, and answers in their order.
    pub(super) fn take(&mut self, steps: &[Step], now: Instant) -> Result<Vec<Applied>, FileError> {
        let mut applied = vec![Applied::Absent; steps.len()];
        for (page, places) in by_page(steps) {
            let bytes = self.pages.get((part_of(page), page))?.map(|found| found.value().to_vec());
            let mut records = Vec::with_capacity(places.len());
            for uid in places.iter().map(|place| steps[*place].uid()) {
                records.push((uid, self.users.get(uid.0)?.map(|found| found.value().to_vec())));
            }
            let mut edit = Edit::open(page, bytes, records, now).map_err(unreadable)?;
            for place in places {
                applied[place] = edit.step(&steps[place]);
            }
            if let Some(write) = edit.end() {
                self.write(&write)?;
            }
        }
        Ok(applied)
    }

    fn write(&mut self, write: &Write) -> Result<(), FileError> {
        let place = (part_of(write.page), write.page);
        match &write.bytes {
            Some(bytes) => drop(self.pages.insert(place, bytes.as_slice())?),
            None => drop(self.pages.remove(place)?),
        }
        for (uid, record) in &write.records {
            match record {
                Some(record) => drop(self.users.insert(uid.0, record.as_slice())?),
                None => drop(self.users.remove(uid.0)?),
            }
        }
        for (zone, now, once) in &write.zones {
            self.count(*zone, *now, *once)?;
        }
        if write.turned { log::add(&mut self.log, write.page, write.stamp) } else { Ok(()) }
    }

    fn count(&mut self, zone: Zone, now: i64, once: i64) -> Result<(), FileError> {
        let old = self.zones.get(zone.name())?.map_or((0, 0), |found| found.value());
        let new = (old.0.saturating_add_signed(now), old.1.saturating_add_signed(once));
        match new {
            (0, 0) => drop(self.zones.remove(zone.name())?),
            _ => drop(self.zones.insert(zone.name(), new)?),
        }
        Ok(())
    }
}

/// What cannot be read, as the file says it.
fn unreadable(error: crate::StoreError) -> FileError {
    match error {
        crate::StoreError::Corrupt { what, detail } => FileError::entry(what, detail),
        other => FileError::entry("the directory", other),
    }
}
