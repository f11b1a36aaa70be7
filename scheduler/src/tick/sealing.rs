//! The seal: who is due, fixed before the hour.

use chrono::TimeDelta;
use domain::{Instant, Night, SealKey, Shard, Zone};
use night_ledger::{Raised, Seal, Sealed, StoreError};

use super::{Scheduler, Ticked};
use crate::{agenda::Entry, plan::Plan, roster};

impl Scheduler {
    /// Seals what fires within the time to prepare, and what was found unsealed, however late.
    pub(super) async fn seal_ahead(&mut self, now: Instant, ticked: &mut Ticked) -> Result<(), StoreError> {
        let Some(agenda) = &self.agenda else { return Ok(()) };
        let ahead = TimeDelta::from_std(self.settings.prepare_ahead.0).unwrap_or_default();
        let due = agenda.entries.iter().filter(|(index, entry)| {
            let seen = agenda.first_seen.get(&self.campaigns[*index].name);
            // a night that was over before this campaign was first seen here is nobody's
            let settled = self.settled.contains(&(entry.night.clone(), entry.instant));
            !settled && entry.instant - ahead <= now && seen.is_none_or(|&seen| entry.deadline() > seen)
        });
        for (index, entry) in due.cloned().collect::<Vec<_>>() {
            self.seal_entry(index, &entry, ticked).await?;
        }
        Ok(())
    }

    async fn seal_entry(
        &mut self,
        index: usize,
        entry: &Entry,
        ticked: &mut Ticked,
    ) -> Result<(), StoreError> {
        let n = self.ledger.shard_count(&entry.night, self.settings.shards).await?;
        let wanted = |shard| {
            self.shards.epoch(shard).is_some()
                && !self.sealed.contains(&(entry.night.clone(), entry.instant, shard))
        };
        if !Shard::all(n).any(wanted) {
            self.settled.insert((entry.night.clone(), entry.instant));
            return Ok(());
        }
        let seals = roster::seals(&*self.directory, &self.campaigns[index], entry, n).await?;
        for (shard, seal) in seals {
            let place = (entry.night.clone(), entry.instant, shard);
            let Some(epoch) = self.shards.epoch(shard) else { continue };
            if self.sealed.contains(&place) || !self.raise(&entry.night, shard, epoch).await? {
                continue;
            }
            let key = SealKey { night: entry.night.clone(), shard, instant: entry.instant };
            let Some((seal, confirmed, new)) = self.write_seal(&key, seal).await? else { continue };
            if new {
                ticked.sealed += seal.due.len() as u64;
                self.metrics.sealed.inc_by(seal.due.len() as u64);
            }
            if let Some(confirmed) = confirmed {
                self.plans.insert(key.clone(), Plan::new(key, seal, epoch, confirmed));
            }
            self.sealed.insert(place);
        }
        Ok(())
    }

    async fn raise(&mut self, night: &Night, shard: Shard, epoch: u64) -> Result<bool, StoreError> {
        let raised = self.ledger.raise_epoch(night, shard, epoch).await? == Raised::Yes;
        if raised {
            self.loaded.insert((night.clone(), shard), epoch);
        }
        Ok(raised)
    }

    /// Writes a seal, without zones that were sealed at another instant. Answers the seal that stands, how far it is
    /// published (`None`: it is closed) and whether it was written now; `None` when no zone is left.
    async fn write_seal(
        &self,
        key: &SealKey,
        mut seal: Seal,
    ) -> Result<Option<(Seal, Option<u32>, bool)>, StoreError> {
        loop {
            match self.ledger.seal(key, &seal).await? {
                Sealed::Written => return Ok(Some((seal, Some(0), true))),
                Sealed::Stands => break,
                Sealed::ZoneTaken(zone, at) => {
                    tracing::warn!(seal = %key, %zone, %at, "the zone was sealed at another instant of this night and stays there");
                    without(&mut seal, zone);
                    if seal.zones.is_empty() {
                        return Ok(None);
                    }
                }
            }
        }
        let Some(seal) = self.ledger.sealed(key).await? else { return Ok(None) };
        let progress = self.ledger.seals(&key.night, key.shard).await?;
        let progress = progress.into_iter().find(|(k, _)| k == key).map(|(_, p)| p).unwrap_or_default();
        Ok(Some((seal, (!progress.closed).then_some(progress.batches), false)))
    }
}

/// Takes a zone and its users out of a seal that is not written yet.
fn without(seal: &mut Seal, zone: Zone) {
    let Some(out) = seal.zones.iter().position(|z| z.zone == zone) else { return };
    seal.zones.remove(out);
    seal.due.retain(|d| usize::from(d.zone) != out);
    seal.due.iter_mut().filter(|d| usize::from(d.zone) > out).for_each(|d| d.zone -= 1);
}
