use std::{collections::BTreeMap, sync::Arc};

use domain::{Instant, SealKey, Shard, Zone};
use night_ledger::{NightLedger, Seal, Sealed, StoreError};

use crate::agenda::Entry;

/// What came of a seal that was to be written.
pub(super) struct Write {
    pub(super) key: SealKey,
    pub(super) standing: Standing,
    /// Zones that were sealed at another instant of the night.
    pub(super) taken: BTreeMap<Zone, Instant>,
}

/// What stands in a place after its seal was to be written.
pub(super) enum Standing {
    /// The seal, written now.
    Written(Seal),
    /// A seal that was there before, with the number of its batches that are confirmed; `None` if it is closed.
    Known(Option<(Seal, u32)>),
    /// None: all its zones were sealed at another instant of the night.
    Elsewhere,
}

/// Writes the seal of an entry's shard, without zones that were sealed at another instant.
pub(super) async fn write(
    ledger: Arc<dyn NightLedger>,
    entry: &Entry,
    shard: Shard,
    seal: Seal,
) -> (Shard, Result<Write, StoreError>) {
    let key = SealKey { night: entry.night.clone(), shard, instant: entry.instant };
    let mut taken = BTreeMap::new();
    let standing = stand(&*ledger, &key, seal, &mut taken).await;
    (shard, standing.map(|standing| Write { key, standing, taken }))
}

async fn stand(
    ledger: &dyn NightLedger,
    key: &SealKey,
    mut seal: Seal,
    taken: &mut BTreeMap<Zone, Instant>,
) -> Result<Standing, StoreError> {
    loop {
        if seal.zones.is_empty() {
            return Ok(Standing::Elsewhere);
        }
        match ledger.seal(key, &seal).await? {
            Sealed::Written => return Ok(Standing::Written(seal)),
            Sealed::Stands => return known(ledger, key).await.map(Standing::Known),
            Sealed::ZoneTaken(zone, at) => {
                taken.insert(zone, at);
                if !without(&mut seal, zone) {
                    return Err(StoreError::corrupt("seal", format!("{key}: {zone} is not in it")));
                }
            }
        }
    }
}

async fn known(ledger: &dyn NightLedger, key: &SealKey) -> Result<Option<(Seal, u32)>, StoreError> {
    let seals = ledger.seals(&key.night, key.shard).await?;
    let progress = seals.into_iter().find(|(k, _)| k == key).map(|(_, p)| p).unwrap_or_default();
    if progress.closed {
        return Ok(None);
    }
    let seal = ledger.sealed(key).await?;
    let seal = seal.ok_or_else(|| StoreError::corrupt("seal", format!("{key} is gone")))?;
    Ok(Some((seal, progress.batches)))
}

/// Takes a zone and its users out of a seal that is not written yet; answers whether it was in it.
fn without(seal: &mut Seal, zone: Zone) -> bool {
    let Some(out) = seal.zones.iter().position(|z| z.zone == zone) else { return false };
    seal.zones.remove(out);
    seal.due.retain(|d| usize::from(d.zone) != out);
    seal.due.iter_mut().filter(|d| usize::from(d.zone) > out).for_each(|d| d.zone -= 1);
    true
}
