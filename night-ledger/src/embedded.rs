//! The ledger in the embedded file. One process owns the file, so leases on batches live in its memory: they end with it.

mod brakes;
mod closing;
mod counting;
mod leases;
mod pending;
mod seals;
mod sheet;
mod steps;
mod tables;
mod why;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use domain::{BatchId, CampaignName, Day, Instant, Night, SealKey, Shard, ShardCount, Uid, Zone};
use leases::Leases;
use plumbing::{File, StoreError, redb::ReadableTable};

use crate::{
    Brake, Brakes, ClosedOpen, Group, Held, NightLedger, Owner, Progress, Raised, Seal, Sealed, ShardLease,
    Step, Stepped, Sums, Why,
};

/// [`NightLedger`] in the embedded file.
pub struct EmbeddedLedger {
    file: Arc<File>,
    leases: Leases,
}

impl EmbeddedLedger {
    /// The ledger of this file; makes its tables where they are missing.
    pub async fn open(file: Arc<File>) -> Result<Self, StoreError> {
        file.write(tables::make).await?;
        Ok(Self { file, leases: Leases::default() })
    }
}

/// The owner of a shard that was given up.
const NOBODY: u64 = 0;

#[async_trait]
impl NightLedger for EmbeddedLedger {
    async fn first_seen(
        &self,
        campaign: &CampaignName,
        line: &str,
        now: Instant,
    ) -> Result<Instant, StoreError> {
        let key = format!("{campaign}\0{line}");
        let held = seals::first_seen(&self.file, &key)?;
        let writing = self.file.write(move |to| {
            let mut table = to.open_table(tables::FIRST_SEEN)?;
            let held = table.get(key.as_str())?.map(|at| at.value());
            let at = held.unwrap_or_else(|| now.timestamp_millis());
            if held.is_none() {
                table.insert(key.as_str(), at)?;
            }
            Ok(at)
        });
        let at = match held {
            Some(at) => at,
            None => writing.await?,
        };
        Instant::from_timestamp_millis(at).ok_or_else(|| StoreError::corrupt("first seen", at))
    }

    async fn shard_count(&self, night: &Night, n: ShardCount) -> Result<ShardCount, StoreError> {
        let key = tables::night(night);
        if let Some(held) = seals::shard_count(&self.file, &key)? {
            return ShardCount::new(held).ok_or_else(|| StoreError::corrupt("shard count", held));
        }
        let held = self.file.write(move |to| {
            let mut table = to.open_table(tables::NIGHTS)?;
            let held = table.get(&key[..])?.map(|n| n.value());
            if held.is_none() {
                table.insert(&key[..], n.get())?;
            }
            Ok(held.unwrap_or(n.get()))
        });
        let held = held.await?;
        ShardCount::new(held).ok_or_else(|| StoreError::corrupt("shard count", held))
    }

    async fn nights(&self) -> Result<Vec<Night>, StoreError> {
        Ok(seals::nights(&self.file)?)
    }

    fn exclusive(&self) -> bool {
        true
    }

    async fn members(&self, _group: Group, owner: Owner, _term: Duration) -> Result<Vec<Owner>, StoreError> {
        // whoever has the file open is alone
        Ok(vec![owner])
    }

    async fn leave(&self, _group: Group, _owner: Owner) -> Result<(), StoreError> {
        Ok(())
    }

    async fn lease_shard(
        &self,
        shard: Shard,
        owner: Owner,
        _term: Duration,
        above: u64,
    ) -> Result<ShardLease, StoreError> {
        // whoever has the file open is alone, so an earlier owner is dead and the term does not matter
        if let Some((by, epoch)) = seals::shard_lease(&self.file, shard)?
            && by == owner.0
            && by != NOBODY
            && epoch > above
        {
            return Ok(ShardLease::Held(epoch));
        }
        let epoch = self.file.write(move |to| {
            let mut table = to.open_table(tables::SHARD_LEASES)?;
            let held = table.get(shard.0)?.map(|l| l.value());
            let last = held.map_or(0, |(_, epoch)| epoch);
            let epoch = last.max(above).saturating_add(1);
            table.insert(shard.0, (owner.0, epoch))?;
            Ok(epoch)
        });
        Ok(ShardLease::Held(epoch.await?))
    }

    async fn release_shard(&self, shard: Shard, owner: Owner) -> Result<(), StoreError> {
        let done = self.file.write(move |to| {
            let mut table = to.open_table(tables::SHARD_LEASES)?;
            let held = table.get(shard.0)?.map(|l| l.value());
            if let Some((by, epoch)) = held
                && by == owner.0
            {
                table.insert(shard.0, (NOBODY, epoch))?;
            }
            Ok(())
        });
        Ok(done.await?)
    }

    async fn set_brake(
        &self,
        night: &Night,
        zone: Option<Zone>,
        brake: Option<Brake>,
    ) -> Result<(), StoreError> {
        brakes::set(&self.file, night, zone, brake).await
    }

    async fn brakes(&self, night: &Night) -> Result<Brakes, StoreError> {
        Ok(brakes::read(&self.file, night)?)
    }

    async fn seal(&self, key: &SealKey, seal: &Seal) -> Result<Sealed, StoreError> {
        seals::write(&self.file, key.clone(), seal.clone()).await
    }

    async fn sealed(&self, key: &SealKey) -> Result<Option<Seal>, StoreError> {
        seals::read(&self.file, key)
    }

    async fn seals(&self, night: &Night, shard: Shard) -> Result<Vec<(SealKey, Progress)>, StoreError> {
        Ok(seals::list(&self.file, night, Some(shard))?)
    }

    async fn raise_epoch(&self, night: &Night, shard: Shard, epoch: u64) -> Result<Raised, StoreError> {
        let key = tables::night_shard(night, shard);
        Ok(self.file.write(move |to| seals::raise(to, &key, epoch)).await?)
    }

    async fn checkpoint(&self, key: &SealKey, epoch: u64, batches: u32) -> Result<Raised, StoreError> {
        seals::checkpoint(&self.file, key, epoch, batches).await
    }

    async fn step(&self, step: Step) -> Result<Stepped, StoreError> {
        steps::step(&self.file, &self.leases, step).await
    }

    async fn pending(&self, key: &SealKey, batch: BatchId) -> Result<Vec<Vec<u8>>, StoreError> {
        Ok(pending::pending(&self.file, key, batch)?)
    }

    async fn published(&self, key: &SealKey, batch: BatchId, bytes: &[u8]) -> Result<(), StoreError> {
        Ok(pending::published(&self.file, key, batch, bytes).await?)
    }

    async fn claims(&self, key: &SealKey, positions: &[u32]) -> Result<Vec<Held>, StoreError> {
        Ok(seals::claims(&self.file, key, positions)?)
    }

    async fn close(&self, key: &SealKey, published: u32) -> Result<ClosedOpen, StoreError> {
        closing::close(&self.file, key.clone(), published).await
    }

    async fn abort(&self, key: &SealKey, zones: Option<&[Zone]>) -> Result<u64, StoreError> {
        closing::abort(&self.file, key.clone(), zones.map(<[_]>::to_vec)).await
    }

    async fn reopen(&self, key: &SealKey, positions: &[u32]) -> Result<u64, StoreError> {
        closing::reopen(&self.file, key.clone(), positions.to_vec()).await
    }

    async fn sums(&self, night: &Night) -> Result<Sums, StoreError> {
        Ok(counting::sums(&self.file, night)?)
    }

    async fn recount(&self, night: &Night) -> Result<Sums, StoreError> {
        counting::recount(&self.file, night)
    }

    async fn why(&self, night: &Night, uid: Uid) -> Result<Option<Why>, StoreError> {
        why::why(&self.file, night, uid)
    }

    async fn forget(&self, day: Day) -> Result<u64, StoreError> {
        let old: Vec<_> = seals::nights(&self.file)?.into_iter().filter(|n| n.day < day).collect();
        let keys: Vec<_> = old.iter().map(tables::night).collect();
        let count = keys.len() as u64;
        if count > 0 {
            self.file.write(move |to| tables::drop_nights(to, &keys)).await?;
        }
        Ok(count)
    }
}
