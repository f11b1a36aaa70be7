//! Brakes that operators put on nights.

use domain::{Night, Zone};
use plumbing::{File, FileError, StoreError, redb::ReadableTable};

use super::tables;
use crate::{Brake, Brakes};

pub(super) async fn set(
    file: &File,
    night: &Night,
    zone: Option<Zone>,
    brake: Option<Brake>,
) -> Result<(), StoreError> {
    let row = tables::with(tables::night(night), zone.map_or("", Zone::name).as_bytes());
    let done = file.write(move |to| {
        let mut table = to.open_table(tables::BRAKES)?;
        if table.get(&row[..])?.is_some_and(|held| held.value() == Brake::Aborted.code()) {
            return Ok(());
        }
        match brake {
            Some(brake) => table.insert(&row[..], brake.code())?,
            None => table.remove(&row[..])?,
        };
        Ok(())
    });
    Ok(done.await?)
}

pub(super) fn read(file: &File, night: &Night) -> Result<Brakes, FileError> {
    let table = file.read()?.open_table(tables::BRAKES)?;
    let prefix = tables::night(night);
    let mut brakes = Brakes::default();
    for row in table.range::<&[u8]>(&prefix[..]..&tables::after(&prefix)[..])? {
        let (key, code) = row?;
        let bad = || FileError::entry("brake", format!("{:?}", key.value()));
        let brake = Brake::from_code(code.value()).ok_or_else(bad)?;
        let zone = std::str::from_utf8(&key.value()[prefix.len()..]).map_err(|_| bad())?;
        if zone.is_empty() {
            brakes.whole = Some(brake);
        } else {
            brakes.zones.insert(zone.parse().map_err(|_| bad())?, brake);
        }
    }
    Ok(brakes)
}
