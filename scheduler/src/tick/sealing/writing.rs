use std::collections::BTreeMap;

use domain::{Instant, SealKey, Shard, Zone};
use night_ledger::{Seal, Sealed, StoreError};

use super::super::Scheduler;
use crate::{agenda::Entry, plan::Plan};

/// What stands in a place after its seal was to be written.
pub(super) enum Standing {
    /// The seal, written now, with so many users.
    Written(u64),
    /// A seal that was there before.
    Known,
    /// None: all its zones were sealed at another instant of the night.
    Elsewhere,
}

impl Scheduler {
    /// Writes the seal of an entry's shard, without zones that were sealed at another instant, which are noted in `taken`.
    /// Whatever then stands, there is nothing left to seal in this place.
    pub(super) async fn write_seal(
        &mut self,
        entry: &Entry,
        shard: Shard,
        epoch: u64,
        mut seal: Seal,
        taken: &mut BTreeMap<Zone, Instant>,
    ) -> Result<Standing, StoreError> {
        let key = SealKey { night: entry.night.clone(), shard, instant: entry.instant };
        let ours = self.has(&key.night.campaign);
        let standing = loop {
            if seal.zones.is_empty() {
                break Standing::Elsewhere;
            }
            match self.ledger.seal(&key, &seal).await? {
                Sealed::Written => {
                    let users = u64::try_from(seal.due.len()).unwrap_or(u64::MAX);
                    self.plans.insert(key.clone(), Plan::new(key, seal, ours, epoch, 0));
                    break Standing::Written(users);
                }
                Sealed::Stands => {
                    let seals = self.ledger.seals(&key.night, shard).await?;
                    let progress =
                        seals.into_iter().find(|(k, _)| *k == key).map(|(_, p)| p).unwrap_or_default();
                    if !progress.closed {
                        let seal = self.ledger.sealed(&key).await?;
                        let seal =
                            seal.ok_or_else(|| StoreError::corrupt("seal", format!("{key} is gone")))?;
                        self.plans.insert(key.clone(), Plan::new(key, seal, ours, epoch, progress.batches));
                    }
                    break Standing::Known;
                }
                Sealed::ZoneTaken(zone, at) => {
                    taken.insert(zone, at);
                    if !without(&mut seal, zone) {
                        return Err(StoreError::corrupt("seal", format!("{key}: {zone} is not in it")));
                    }
                }
            }
        };
        self.sealed.insert((entry.night.clone(), entry.instant, shard));
        Ok(standing)
    }
}

/// Takes a zone and its users out of a seal that is not written yet; answers whether it was in it.
fn without(seal: &mut Seal, zone: Zone) -> bool {
    let Some(out) = seal.zones.iter().position(|z| z.zone == zone) else { return false };
    seal.zones.remove(out);
    seal.due.retain(|d| usize::from(d.zone) != out);
    seal.due.iter_mut().filter(|d| usize::from(d.zone) > out).for_each(|d| d.zone -= 1);
    true
}
