//! "Why did this user get none, or one, and when?"

use domain::{BatchId, Instant, Night, Uid};
use plumbing::{File, FileError, StoreError};

use super::{counting, seals, sheet::Sheet, steps, tables};
use crate::{Why, Worked};

pub(super) fn why(file: &File, night: &Night, uid: Uid) -> Result<Option<Why>, StoreError> {
    for (key, _) in seals::list(file, night, None)? {
        let Some(seal) = seals::read(file, &key)? else { continue };
        let Some((position, due)) = (0u32..).zip(&seal.due).find(|(_, d)| d.uid == uid) else { continue };
        let name = tables::seal(&key);
        let table = file.read()?.open_table(tables::CLAIMS).map_err(FileError::from)?;
        let claim = Sheet::new(&key).get(&table, position)?;
        let mut moved = counting::moved(file, &name)?;
        return Ok(Some(Why {
            position,
            slot: due.slot,
            zone: seal.zones[usize::from(due.zone)].zone,
            channel: moved
                .remove(&position)
                .unwrap_or_else(|| seal.channels[usize::from(due.channel)].clone()),
            claim,
            worked: worked(file, &name, position)?,
            seal: key,
        }));
    }
    Ok(None)
}

fn worked(file: &File, seal: &[u8], position: u32) -> Result<Vec<Worked>, StoreError> {
    let table = file.read()?.open_table(tables::WORKED).map_err(FileError::from)?;
    let mut worked = Vec::new();
    let range = table.range::<&[u8]>(seal..&tables::after(seal)[..]).map_err(FileError::from)?;
    for row in range {
        let (key, value) = row.map_err(FileError::from)?;
        let Some(attempt) = steps::names(value.value(), position)? else { continue };
        let parts = || {
            let (at, rest) = key.value().get(seal.len()..)?.split_first_chunk()?;
            let at = i64::try_from(u64::from_be_bytes(*at)).ok()?;
            let (batch, _) = rest.split_first_chunk()?;
            Some((Instant::from_timestamp_millis(at)?, BatchId(u128::from_be_bytes(*batch))))
        };
        let (at, batch) =
            parts().ok_or_else(|| StoreError::corrupt("worked", format!("{:?}", key.value())))?;
        worked.push(Worked { at, batch, attempt });
    }
    Ok(worked)
}
