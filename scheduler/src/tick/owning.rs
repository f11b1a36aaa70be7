//! Shards that come and go, and the seals that come with them.

use std::collections::BTreeMap;

use domain::{Night, Shard, ShardCount};
use night_ledger::{Raised, StoreError};

use super::Scheduler;
use crate::{first_error::FirstError, plan::Plan};

impl Scheduler {
    /// Renews the leases on the shards of every N in force, and picks up what came with them.
    pub(super) async fn take_shards(&mut self) -> Result<(), StoreError> {
        let mut first = FirstError::default();
        let mut counts = BTreeMap::new();
        for night in first.note(self.ledger.nights().await).unwrap_or_default() {
            let n = self.ledger.shard_count(&night, self.settings.shards).await;
            counts.extend(first.note(n).map(|n| (night, n)));
        }
        let most = counts.values().copied().fold(self.settings.shards, ShardCount::max);
        let before = self.shards.epochs();
        first.note(self.shards.renew(&*self.ledger, most).await);
        if self.shards.epochs() != before {
            self.settled.clear();
        }
        first.note(self.load(&counts).await);
        if !first.none() {
            // what was not picked up is not left until the next renewal
            self.shards.again();
        }
        first.end()
    }

    async fn load(&mut self, counts: &BTreeMap<Night, ShardCount>) -> Result<(), StoreError> {
        let shards = &self.shards;
        self.plans.retain(|key, plan| shards.epoch(key.shard) == Some(plan.epoch));
        self.loaded.retain(|(_, shard), epoch| shards.epoch(*shard) == Some(*epoch));
        let mut first = FirstError::default();
        for (night, n) in counts {
            for shard in Shard::all(*n) {
                if let Some(epoch) = self.shards.epoch(shard) {
                    first.note(self.load_place(night, shard, epoch).await);
                }
            }
        }
        first.end()
    }

    /// Reads the seals of a night's shard that came to us, once: raises the epoch first, then reads how far they are.
    /// Answers whether the shard is ours.
    pub(super) async fn load_place(
        &mut self,
        night: &Night,
        shard: Shard,
        epoch: u64,
    ) -> Result<bool, StoreError> {
        let place = (night.clone(), shard);
        if self.loaded.get(&place) == Some(&epoch) {
            return Ok(true);
        }
        if let Raised::Outbid(held) = self.ledger.raise_epoch(night, shard, epoch).await? {
            tracing::warn!(%night, %shard, epoch, held, "another scheduler owns the shard under a higher epoch");
            self.give_up(night, shard);
            return Ok(false);
        }
        for (key, progress) in self.ledger.seals(night, shard).await? {
            if !progress.closed
                && let Some(seal) = self.ledger.sealed(&key).await?
            {
                let plan = Plan::new(key.clone(), seal, self.has(&night.campaign), epoch, progress.batches);
                self.plans.insert(key.clone(), plan);
            }
            self.sealed.insert((night.clone(), key.instant, shard));
        }
        self.loaded.insert(place, epoch);
        Ok(true)
    }

    /// Leaves a night's shard to the other scheduler that has it, and asks for the lease again at the next tick.
    pub(super) fn give_up(&mut self, night: &Night, shard: Shard) {
        self.plans.retain(|key, _| key.shard != shard || key.night != *night);
        self.loaded.remove(&(night.clone(), shard));
        self.shards.again();
    }
}
