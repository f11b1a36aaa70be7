//! Shards that come and go, and the seals that come with them.

mod outbid;
mod place;

use std::{collections::BTreeMap, sync::Arc, time::Instant as RealInstant};

use domain::{Night, Shard, ShardCount};
use futures_util::{StreamExt, stream};
use night_ledger::StoreError;

pub(super) use self::outbid::Outbid;
use self::place::{Place, read};
use super::{Scheduler, Turn};
use crate::{first_error::FirstError, plan::Plan};

/// Nights' shards that are read at once.
const AT_ONCE: usize = 32;

impl Scheduler {
    /// Renews the leases on the shards of every N in force, and picks up what came with them.
    pub(super) async fn take_shards(&mut self, turn: &mut Turn) -> Result<(), StoreError> {
        let mut first = FirstError::default();
        let mut counts = BTreeMap::new();
        for night in first.note(self.ledger.nights().await).unwrap_or_default() {
            if self.forgetting.covers(night.day) {
                continue;
            }
            let n = self.ledger.shard_count(&night, self.settings.shards).await;
            counts.extend(first.note(n).map(|n| (night, n)));
        }
        let most = counts.values().copied().fold(self.settings.shards, ShardCount::max);
        let before = self.shards.epochs();
        first.note(self.shards.renew(&*self.ledger, most).await);
        let shards = &self.shards;
        self.outbid.retain(|night, shard| counts.contains_key(night) && shards.wants(shard));
        if self.shards.epochs() != before {
            self.settled.clear();
        }
        first.note(self.load(&counts, turn).await);
        if !first.none() {
            // what was not picked up is not left until the next renewal
            self.shards.again();
        }
        first.end()
    }

    async fn load(
        &mut self,
        counts: &BTreeMap<Night, ShardCount>,
        turn: &mut Turn,
    ) -> Result<(), StoreError> {
        let shards = &self.shards;
        self.plans.retain(|key, plan| shards.epoch(key.shard) == Some(plan.epoch));
        self.loaded.retain(|(_, shard), epoch| shards.epoch(*shard) == Some(*epoch));
        let mut places = Vec::new();
        for (night, n) in counts {
            places.extend(Shard::all(*n).map(|shard| (night.clone(), shard)));
        }
        let mut first = FirstError::default();
        self.load_places(places, &mut first, turn).await;
        first.end()
    }

    /// Reads the seals of nights' shards that came to us, once each. Answers whether one was found to be another's.
    pub(super) async fn load_places(
        &mut self,
        places: Vec<(Night, Shard)>,
        first: &mut FirstError,
        turn: &mut Turn,
    ) -> bool {
        let new = places.into_iter().filter_map(|(night, shard)| {
            let epoch = self.shards.epoch(shard)?;
            let place = (night, shard);
            (self.loaded.get(&place) != Some(&epoch)).then_some((place, epoch))
        });
        let new: Vec<_> = new.collect();
        if new.is_empty() {
            return false;
        }
        let ledger = Arc::clone(&self.ledger);
        let reading = stream::iter(new).map(|((night, shard), epoch)| {
            let ledger = Arc::clone(&ledger);
            async move {
                let read = read(&*ledger, &night, shard, epoch).await;
                (night, shard, epoch, read)
            }
        });
        let reading = reading.buffer_unordered(AT_ONCE).collect::<Vec<_>>();
        let mut lost = false;
        for (night, shard, epoch, place) in self.meanwhile(turn, reading).await {
            match first.note(place) {
                Some(Place::Ours(seals)) => {
                    for (key, progress, seal) in seals {
                        if let Some(seal) = seal {
                            let ours = self.has(&night.campaign);
                            let plan = Plan::new(key.clone(), seal, ours, epoch, progress.batches);
                            self.plans.insert(key.clone(), plan);
                        }
                        self.sealed.insert((night.clone(), key.instant, shard));
                    }
                    self.outbid.accepted(&night, shard);
                    self.loaded.insert((night, shard), epoch);
                }
                Some(Place::Outbid(held)) => {
                    self.give_up(&night, shard, held);
                    lost = true;
                }
                None => {}
            }
        }
        lost
    }

    /// Leaves a night's shard, which is `held` under a higher epoch, to the scheduler that has it, and asks for the lease
    /// again at the next tick: where nobody has it, under an epoch above that.
    pub(super) fn give_up(&mut self, night: &Night, shard: Shard, held: u64) {
        if self.outbid.note(night, shard, RealInstant::now()) {
            let epoch = self.shards.epoch(shard);
            tracing::warn!(%night, %shard, epoch, held, "the shard is held under a higher epoch, as if it were another scheduler's");
        }
        self.plans.retain(|key, _| key.shard != shard || key.night != *night);
        self.loaded.remove(&(night.clone(), shard));
        self.shards.outbid(shard, held);
    }

    /// An error while shards of ours stay under a higher epoch than that of their lease.
    pub(super) fn look_at_outbid(&self) -> Result<(), StoreError> {
        self.outbid.lasting(RealInstant::now())
    }
}
