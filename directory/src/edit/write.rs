use domain::{Instant, Uid, Zone};
use xxhash_rust::xxh3::Xxh3;

use super::Edit;
use crate::{Refusal, RosterRow, horizon::Horizon, page::sheet::Sheet, record};

/// What has to be written after some steps on a page, all of it in one step of the engine.
#[derive(Debug)]
pub(crate) struct Write {
    /// The page's number.
    pub(crate) page: u32,
    /// The stamp that the page must still have; `None`: it must not be there.
    pub(crate) over: Option<u64>,
    /// The page's stamp from now on; of a page that goes, a number of its own all the same.
    pub(crate) stamp: u64,
    /// The page's bytes; `None`: it goes.
    pub(crate) bytes: Option<Vec<u8>>,
    /// Whether the page says something else than before, so that who follows it must hear of it.
    pub(crate) turned: bool,
    /// Records; `None`: it goes.
    pub(crate) records: Vec<(Uid, Option<Vec<u8>>)>,
    /// How many more users each zone has, and how many more moved out of it. Not both 0.
    pub(crate) zones: Vec<(Zone, i64, i64)>,
}

impl Write {
    /// What puts up a page that is not there yet, without records; `None` without rows. Its page and counts are those that
    /// come of putting the users in one by one at `now`.
    ///
    /// # Errors
    /// A row that the page does not take: one of another page, one too many, or one with a channel too many.
    pub(crate) fn of_rows(number: u32, rows: &[RosterRow], now: Instant) -> Result<Option<Self>, Refusal> {
        let sheet = Sheet::of(number, rows, Horizon::at(now))?;
        let Some(page) = sheet.page() else { return Ok(None) };
        let mut hash = Xxh3::new();
        hash.update(page.bytes());
        let stamp = hash.digest();
        Ok(Some(Self {
            page: number,
            over: None,
            stamp,
            bytes: Some(page.stamped(stamp).into_bytes()),
            turned: true,
            records: Vec::new(),
            zones: sheet.zones().into_iter().map(|(zone, (now, once))| (zone, now, once)).collect(),
        }))
    }
}

impl Edit {
    /// What came of the steps; `None` where nothing has to be written.
    pub(crate) fn end(self) -> Option<Write> {
        let changed = self.records.into_iter().filter(|(_, record)| record.changed);
        let records: Vec<_> =
            changed.map(|(uid, record)| (uid, record.user.map(|user| record::encode(&user)))).collect();
        if records.is_empty() {
            return None;
        }
        let page = self.sheet.page();
        let over = self.sheet.stamp();
        let mut hash = Xxh3::new();
        hash.update(&over.unwrap_or_default().to_le_bytes());
        hash.update(page.as_ref().map(|page| page.bytes()).unwrap_or_default());
        for (uid, record) in &records {
            hash.update(&uid.0.to_le_bytes());
            hash.update(record.as_deref().unwrap_or_default());
        }
        let stamp = hash.digest();
        let zones = self.zones.into_iter().filter(|(_, by)| *by != (0, 0));
        Some(Write {
            page: self.page,
            over,
            stamp,
            bytes: page.map(|page| page.stamped(stamp).into_bytes()),
            turned: self.turned,
            records,
            zones: zones.map(|(zone, (now, once))| (zone, now, once)).collect(),
        })
    }
}

#[cfg(test)]
mod tests;
