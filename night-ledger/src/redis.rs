//! The ledger in Redis, on one server or a cluster, for many processes. Everything that changes together lies under one hash
//! tag and is changed by one script. Leases end by the server's clock: those of the processes may differ.

mod answer;
mod closing;
mod counting;
mod keys;
pub(crate) mod log;
mod nights;
mod pending;
mod scripts;
mod seals;
mod shards;
mod steps;
#[cfg(test)]
mod tests;
mod view;
mod why;
mod windows;

use std::time::Duration;

use async_trait::async_trait;
use domain::{BatchId, CampaignName, Day, Instant, Night, SealKey, Shard, ShardCount, Uid, Zone};
use plumbing::{Redis, StoreError};

use crate::{
    Brake, Brakes, ClosedOpen, Group, Held, NightLedger, Owner, Progress, Raised, Seal, Sealed, ShardLease,
    Step, Stepped, Sums, Why,
};

/// [`NightLedger`] in Redis.
pub struct RedisLedger {
    redis: Redis,
}

impl RedisLedger {
    /// The ledger in this Redis. Does nothing yet.
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }
}

#[async_trait]
impl NightLedger for RedisLedger {
    async fn first_seen(
        &self,
        campaign: &CampaignName,
        line: &str,
        now: Instant,
    ) -> Result<Instant, StoreError> {
        nights::first_seen(&self.redis, campaign, line, now).await
    }

    async fn shard_count(&self, night: &Night, n: ShardCount) -> Result<ShardCount, StoreError> {
        nights::shard_count(&self.redis, night, n).await
    }

    async fn nights(&self) -> Result<Vec<Night>, StoreError> {
        Ok(nights::list(&self.redis).await?.into_iter().map(|(night, _)| night).collect())
    }

    async fn members(&self, group: Group, owner: Owner, term: Duration) -> Result<Vec<Owner>, StoreError> {
        shards::members(&self.redis, group, owner, term).await
    }

    async fn leave(&self, group: Group, owner: Owner) -> Result<(), StoreError> {
        shards::leave(&self.redis, group, owner).await
    }

    async fn lease_shard(
        &self,
        shard: Shard,
        owner: Owner,
        term: Duration,
        above: u64,
    ) -> Result<ShardLease, StoreError> {
        shards::lease(&self.redis, shard, owner, term, above).await
    }

    async fn release_shard(&self, shard: Shard, owner: Owner) -> Result<(), StoreError> {
        shards::release(&self.redis, shard, owner).await
    }

    async fn set_brake(
        &self,
        night: &Night,
        zone: Option<Zone>,
        brake: Option<Brake>,
    ) -> Result<(), StoreError> {
        nights::set_brake(&self.redis, night, zone, brake).await
    }

    async fn brakes(&self, night: &Night) -> Result<Brakes, StoreError> {
        nights::brakes(&self.redis, night).await
    }

    async fn seal(&self, key: &SealKey, seal: &Seal) -> Result<Sealed, StoreError> {
        seals::write(&self.redis, key, seal).await
    }

    async fn sealed(&self, key: &SealKey) -> Result<Option<Seal>, StoreError> {
        seals::read(&self.redis, key).await
    }

    async fn seals(&self, night: &Night, shard: Shard) -> Result<Vec<(SealKey, Progress)>, StoreError> {
        seals::list(&self.redis, night, shard).await
    }

    async fn raise_epoch(&self, night: &Night, shard: Shard, epoch: u64) -> Result<Raised, StoreError> {
        seals::raise(&self.redis, night, shard, epoch).await
    }

    async fn checkpoint(&self, key: &SealKey, epoch: u64, batches: u32) -> Result<Raised, StoreError> {
        seals::checkpoint(&self.redis, key, epoch, batches).await
    }

    async fn step(&self, step: Step) -> Result<Stepped, StoreError> {
        steps::step(&self.redis, &step).await
    }

    async fn pending(&self, key: &SealKey, batch: BatchId) -> Result<Vec<Vec<u8>>, StoreError> {
        pending::pending(&self.redis, key, batch).await
    }

    async fn published(&self, key: &SealKey, batch: BatchId, bytes: &[u8]) -> Result<(), StoreError> {
        pending::published(&self.redis, key, batch, bytes).await
    }

    async fn claims(&self, key: &SealKey, positions: &[u32]) -> Result<Vec<Held>, StoreError> {
        view::claims(&self.redis, key, positions).await
    }

    async fn close(&self, key: &SealKey, published: u32) -> Result<ClosedOpen, StoreError> {
        closing::close(&self.redis, key, published).await
    }

    async fn abort(&self, key: &SealKey, zones: Option<&[Zone]>) -> Result<u64, StoreError> {
        closing::abort(&self.redis, key, zones).await
    }

    async fn reopen(&self, key: &SealKey, positions: &[u32]) -> Result<u64, StoreError> {
        closing::reopen(&self.redis, key, positions).await
    }

    async fn sums(&self, night: &Night) -> Result<Sums, StoreError> {
        counting::sums(&self.redis, night).await
    }

    async fn recount(&self, night: &Night) -> Result<Sums, StoreError> {
        counting::recount(&self.redis, night).await
    }

    async fn why(&self, night: &Night, uid: Uid) -> Result<Option<Why>, StoreError> {
        why::why(&self.redis, night, uid).await
    }

    async fn forget(&self, day: Day) -> Result<u64, StoreError> {
        nights::forget(&self.redis, day).await
    }
}
