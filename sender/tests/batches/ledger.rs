//! The embedded ledger, which can be away for a while when outcomes are to be booked.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use domain::{BatchId, CampaignName, Day, Instant, Night, SealKey, Shard, ShardCount, Uid, Zone};
use night_ledger::{
    Brake, Brakes, ClosedOpen, EmbeddedLedger, Group, Held, NightLedger, Owner, Progress, Raised, Seal,
    Sealed, ShardLease, Step, Stepped, StoreError, Sums, Why,
};

pub(crate) struct Flawed {
    inner: EmbeddedLedger,
    /// So many steps that book something fail from now on.
    pub(crate) away: AtomicU32,
    /// Who is announced and has not left.
    pub(crate) alive: Mutex<BTreeSet<u64>>,
    /// They are done all the same; only their answer gets lost.
    pub(crate) lost: AtomicBool,
    /// So many steps that only claim lose their answer from now on.
    pub(crate) claims_lost: AtomicU32,
    /// A step that another takes between the next look at what is pending and what is made of it.
    pub(crate) meanwhile: Mutex<Option<Step>>,
}

impl Flawed {
    pub(crate) fn over(inner: EmbeddedLedger) -> Self {
        Self {
            inner,
            alive: Mutex::default(),
            away: AtomicU32::new(0),
            lost: AtomicBool::new(false),
            claims_lost: AtomicU32::new(0),
            meanwhile: Mutex::new(None),
        }
    }
}

#[async_trait]
impl NightLedger for Flawed {
    async fn first_seen(
        &self,
        campaign: &CampaignName,
        line: &str,
        now: Instant,
    ) -> Result<Instant, StoreError> {
        self.inner.first_seen(campaign, line, now).await
    }

    async fn shard_count(&self, night: &Night, n: ShardCount) -> Result<ShardCount, StoreError> {
        self.inner.shard_count(night, n).await
    }

    async fn nights(&self) -> Result<Vec<Night>, StoreError> {
        self.inner.nights().await
    }

    async fn members(&self, group: Group, owner: Owner, term: Duration) -> Result<Vec<Owner>, StoreError> {
        self.alive.lock().unwrap().insert(owner.0);
        self.inner.members(group, owner, term).await
    }

    async fn leave(&self, group: Group, owner: Owner) -> Result<(), StoreError> {
        self.alive.lock().unwrap().remove(&owner.0);
        self.inner.leave(group, owner).await
    }

    async fn lease_shard(
        &self,
        shard: Shard,
        owner: Owner,
        term: Duration,
        above: u64,
    ) -> Result<ShardLease, StoreError> {
        self.inner.lease_shard(shard, owner, term, above).await
    }

    async fn release_shard(&self, shard: Shard, owner: Owner) -> Result<(), StoreError> {
        self.inner.release_shard(shard, owner).await
    }

    async fn set_brake(
        &self,
        night: &Night,
        zone: Option<Zone>,
        brake: Option<Brake>,
    ) -> Result<(), StoreError> {
        self.inner.set_brake(night, zone, brake).await
    }

    async fn brakes(&self, night: &Night) -> Result<Brakes, StoreError> {
        self.inner.brakes(night).await
    }

    async fn seal(&self, key: &SealKey, seal: &Seal) -> Result<Sealed, StoreError> {
        self.inner.seal(key, seal).await
    }

    async fn sealed(&self, key: &SealKey) -> Result<Option<Seal>, StoreError> {
        self.inner.sealed(key).await
    }

    async fn seals(&self, night: &Night, shard: Shard) -> Result<Vec<(SealKey, Progress)>, StoreError> {
        self.inner.seals(night, shard).await
    }

    async fn raise_epoch(&self, night: &Night, shard: Shard, epoch: u64) -> Result<Raised, StoreError> {
        self.inner.raise_epoch(night, shard, epoch).await
    }

    async fn checkpoint(&self, key: &SealKey, epoch: u64, batches: u32) -> Result<Raised, StoreError> {
        self.inner.checkpoint(key, epoch, batches).await
    }

    async fn step(&self, step: Step) -> Result<Stepped, StoreError> {
        let takes_one =
            |n: &AtomicU32| n.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok();
        if step.done.is_empty() && !step.claim.is_empty() && takes_one(&self.claims_lost) {
            self.inner.step(step).await?;
            return Err(StoreError::Unavailable("its answer is lost on purpose".into()));
        }
        let (done, lost) = (!step.done.is_empty(), self.lost.load(Ordering::SeqCst));
        if done && takes_one(&self.away) {
            if lost {
                self.inner.step(step).await?;
            }
            return Err(StoreError::Unavailable("away on purpose".into()));
        }
        self.inner.step(step).await
    }

    async fn pending(&self, key: &SealKey, batch: BatchId) -> Result<Vec<Vec<u8>>, StoreError> {
        let left = self.inner.pending(key, batch).await;
        let meanwhile = self.meanwhile.lock().unwrap().take();
        if let Some(step) = meanwhile {
            self.inner.step(step).await?;
        }
        left
    }

    async fn published(&self, key: &SealKey, batch: BatchId, bytes: &[u8]) -> Result<(), StoreError> {
        self.inner.published(key, batch, bytes).await
    }

    async fn claims(&self, key: &SealKey, positions: &[u32]) -> Result<Vec<Held>, StoreError> {
        self.inner.claims(key, positions).await
    }

    async fn close(&self, key: &SealKey, published: u32) -> Result<ClosedOpen, StoreError> {
        self.inner.close(key, published).await
    }

    async fn abort(&self, key: &SealKey, zones: Option<&[Zone]>) -> Result<u64, StoreError> {
        self.inner.abort(key, zones).await
    }

    async fn reopen(&self, key: &SealKey, positions: &[u32]) -> Result<u64, StoreError> {
        self.inner.reopen(key, positions).await
    }

    async fn sums(&self, night: &Night) -> Result<Sums, StoreError> {
        self.inner.sums(night).await
    }

    async fn recount(&self, night: &Night) -> Result<Sums, StoreError> {
        self.inner.recount(night).await
    }

    async fn why(&self, night: &Night, uid: Uid) -> Result<Option<Why>, StoreError> {
        self.inner.why(night, uid).await
    }

    async fn forget(&self, day: Day) -> Result<u64, StoreError> {
        self.inner.forget(day).await
    }
}
