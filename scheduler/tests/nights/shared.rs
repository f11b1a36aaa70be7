//! The embedded ledger with leases and members that end by themselves, as one that many processes share has them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use domain::{BatchId, CampaignName, Day, Night, SealKey, Shard, ShardCount, Uid, Zone};
use night_ledger::{
    Brake, Brakes, ClosedOpen, Group, Held, NightLedger, Owner, Progress, Raised, Seal, Sealed, ShardLease,
    Step, Stepped, StoreError, Sums, Why,
};
use tokio::sync::Notify;

pub(crate) struct Shared {
    inner: Arc<dyn NightLedger>,
    state: Mutex<State>,
    /// Held to keep [`NightLedger::forget`] from its end.
    pub(crate) forgetting: tokio::sync::Mutex<()>,
    /// How often it was asked for.
    pub(crate) forgets: AtomicUsize,
    /// Whether no checkpoint is taken.
    pub(crate) no_checkpoints: AtomicBool,
    /// Held to keep [`NightLedger::checkpoint`] from its end.
    pub(crate) checkpointing: tokio::sync::Mutex<()>,
    /// Has the next seal hold up every checkpoint until one is asked for.
    pub(crate) until_checkpoint: AtomicBool,
    checkpoint_asked: Notify,
    /// Has the next checkpoint keep the connection of the leases until one is asked for.
    pub(crate) until_asked: AtomicBool,
    asked: Notify,
    /// The connection that leases take.
    connection: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    members: BTreeMap<u64, Instant>,
    leases: BTreeMap<Shard, Lease>,
    /// Owners that get no answer.
    cut_off: BTreeSet<u64>,
}

struct Lease {
    owner: u64,
    epoch: u64,
    until: Instant,
}

impl Shared {
    pub(crate) fn over(inner: Arc<dyn NightLedger>) -> Self {
        Self {
            inner,
            state: Mutex::default(),
            forgetting: tokio::sync::Mutex::default(),
            forgets: AtomicUsize::new(0),
            no_checkpoints: AtomicBool::new(false),
            checkpointing: tokio::sync::Mutex::default(),
            until_checkpoint: AtomicBool::new(false),
            checkpoint_asked: Notify::new(),
            until_asked: AtomicBool::new(false),
            asked: Notify::new(),
            connection: tokio::sync::Mutex::default(),
        }
    }

    /// Loses all leases and their epochs.
    pub(crate) fn lose_leases(&self) {
        self.state.lock().unwrap().leases.clear();
    }

    /// From now on an owner gets no answer about members and leases.
    pub(crate) fn cut_off(&self, owner: Owner) {
        self.state.lock().unwrap().cut_off.insert(owner.0);
    }

    /// How many shards are held by each owner.
    pub(crate) fn holders(&self) -> BTreeMap<u64, usize> {
        let mut holders = BTreeMap::new();
        for lease in self.state.lock().unwrap().leases.values().filter(|l| l.until > Instant::now()) {
            *holders.entry(lease.owner).or_default() += 1;
        }
        holders
    }
}

impl State {
    fn asked(&self, owner: Owner) -> Result<(), StoreError> {
        if self.cut_off.contains(&owner.0) {
            return Err(StoreError::Unavailable("cut off on purpose".into()));
        }
        Ok(())
    }
}

#[async_trait]
impl NightLedger for Shared {
    async fn first_seen(
        &self,
        campaign: &CampaignName,
        line: &str,
        now: domain::Instant,
    ) -> Result<domain::Instant, StoreError> {
        self.inner.first_seen(campaign, line, now).await
    }

    async fn shard_count(&self, night: &Night, n: ShardCount) -> Result<ShardCount, StoreError> {
        self.inner.shard_count(night, n).await
    }

    async fn nights(&self) -> Result<Vec<Night>, StoreError> {
        self.inner.nights().await
    }

    async fn members(&self, group: Group, owner: Owner, term: Duration) -> Result<Vec<Owner>, StoreError> {
        assert_eq!(group, Group::Schedulers);
        let mut state = self.state.lock().unwrap();
        state.asked(owner)?;
        state.members.retain(|_, until| *until > Instant::now());
        state.members.insert(owner.0, Instant::now() + term);
        Ok(state.members.keys().copied().map(Owner).collect())
    }

    async fn leave(&self, _group: Group, owner: Owner) -> Result<(), StoreError> {
        let mut state = self.state.lock().unwrap();
        state.asked(owner)?;
        state.members.remove(&owner.0);
        Ok(())
    }

    async fn lease_shard(
        &self,
        shard: Shard,
        owner: Owner,
        term: Duration,
        above: u64,
    ) -> Result<ShardLease, StoreError> {
        self.asked.notify_waiters();
        let _connection = self.connection.lock().await;
        let mut state = self.state.lock().unwrap();
        state.asked(owner)?;
        let lease = state.leases.entry(shard).or_insert(Lease { owner: 0, epoch: 0, until: Instant::now() });
        let live = lease.until > Instant::now();
        if live && lease.owner != owner.0 {
            return Ok(ShardLease::Taken);
        }
        if !live || lease.epoch <= above {
            lease.epoch = lease.epoch.max(above) + 1;
        }
        (lease.owner, lease.until) = (owner.0, Instant::now() + term);
        Ok(ShardLease::Held(lease.epoch))
    }

    async fn release_shard(&self, shard: Shard, owner: Owner) -> Result<(), StoreError> {
        let mut state = self.state.lock().unwrap();
        state.asked(owner)?;
        if let Some(lease) = state.leases.get_mut(&shard).filter(|lease| lease.owner == owner.0) {
            lease.until = Instant::now();
        }
        Ok(())
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
        if self.until_checkpoint.swap(false, Ordering::SeqCst) {
            let _held = self.checkpointing.lock().await;
            self.checkpoint_asked.notified().await;
        }
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
        if self.no_checkpoints.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("no checkpoint on purpose".into()));
        }
        self.checkpoint_asked.notify_one();
        let _held = self.checkpointing.lock().await;
        if self.until_asked.swap(false, Ordering::SeqCst) {
            let _connection = self.connection.lock().await;
            self.asked.notified().await;
        }
        self.inner.checkpoint(key, epoch, batches).await
    }

    async fn step(&self, step: Step) -> Result<Stepped, StoreError> {
        self.inner.step(step).await
    }

    async fn pending(&self, key: &SealKey, batch: BatchId) -> Result<Vec<Vec<u8>>, StoreError> {
        self.inner.pending(key, batch).await
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
        self.forgets.fetch_add(1, Ordering::SeqCst);
        let _held = self.forgetting.lock().await;
        self.inner.forget(day).await
    }
}
