//! What a night owes and what came of it: seals, claims, outcomes, sums, checkpoints and leases.
//!
//! For every night, by zone, shard and channel, at every moment:
//! `due = delivered + suppressed + expired + missed + aborted + rejected + dead + uncertain + open`.
//! What counts together changes in one step.

mod claim;
mod embedded;
mod fields;
mod outcome;
mod seal;
mod sums;

use std::time::Duration;

use async_trait::async_trait;
pub use claim::{Claim, MOST_ATTEMPTS, State};
use domain::{BatchId, ChannelName, Instant, Night, SealKey, Shard, ShardCount, Uid, Zone};
pub use embedded::EmbeddedLedger;
pub use outcome::{Class, Outcome, Reason};
pub use plumbing::StoreError;
pub use seal::{Due, Seal, SealZone};
pub use sums::{Line, Sums};

/// The port of the night ledger.
#[async_trait]
pub trait NightLedger: Send + Sync {
    /// When this campaign was first seen here with this cron line; written as `now` if it was not. Nights that ended
    /// before are nobody's.
    async fn first_seen(
        &self,
        campaign: &domain::CampaignName,
        line: &str,
        now: Instant,
    ) -> Result<Instant, StoreError>;

    /// The shard count of a night: `n` is written into it if it has none yet, and read from it ever after.
    async fn shard_count(&self, night: &Night, n: ShardCount) -> Result<ShardCount, StoreError>;

    /// The nights held, oldest `Day` first.
    async fn nights(&self) -> Result<Vec<Night>, StoreError>;

    /// Takes or renews the lease on a shard for `term`.
    async fn lease_shard(&self, shard: Shard, owner: Owner, term: Duration)
    -> Result<ShardLease, StoreError>;

    /// Writes a seal unless the key or one of its zones is sealed in this night and shard; claims, `due`, `open` and the
    /// sums of those closed at once change in the same step.
    async fn seal(&self, key: &SealKey, seal: &Seal) -> Result<Sealed, StoreError>;

    /// A seal as it was written.
    async fn sealed(&self, key: &SealKey) -> Result<Option<Seal>, StoreError>;

    /// The seals of a night's shard, by instant, with how far each is published.
    async fn seals(&self, night: &Night, shard: Shard) -> Result<Vec<(SealKey, Progress)>, StoreError>;

    /// Raises the night's epoch in this shard; a lower one than held is refused.
    async fn raise_epoch(&self, night: &Night, shard: Shard, epoch: u64) -> Result<Raised, StoreError>;

    /// Records that the first `batches` batches of a seal are confirmed by the queue; refused when a higher epoch is held.
    /// Never goes back.
    async fn checkpoint(&self, key: &SealKey, epoch: u64, batches: u32) -> Result<Raised, StoreError>;

    /// One step of the work on a batch, whole or not at all: books the outcomes of the chunk before, then claims the
    /// next one. See [`Step`].
    async fn step(&self, step: Step) -> Result<Stepped, StoreError>;

    /// What the steps on a batch left to be published, as it was handed in; see [`Step::pending`].
    async fn pending(&self, key: &SealKey, batch: BatchId) -> Result<Option<Vec<u8>>, StoreError>;

    /// Forgets what was left to be published: it is.
    async fn published(&self, key: &SealKey, batch: BatchId) -> Result<(), StoreError>;

    /// The claims at `positions` of a seal, in their order.
    async fn claims(&self, key: &SealKey, positions: &[u32]) -> Result<Vec<Held>, StoreError>;

    /// Closes what is still open in a seal after its deadline: from position `published` on as missed, before it as
    /// expired (`never_worked`, or `deadline` for one that waited for another try), and as uncertain what is claimed or may
    /// have been taken. Answers how many of each.
    async fn close(&self, key: &SealKey, published: u32) -> Result<ClosedOpen, StoreError>;

    /// The sums of a night by zone, shard and channel, as counted while it went on.
    async fn sums(&self, night: &Night) -> Result<Sums, StoreError>;

    /// The same from the claims themselves.
    async fn recount(&self, night: &Night) -> Result<Sums, StoreError>;

    /// What is known of one user's push.
    async fn why(&self, night: &Night, uid: Uid) -> Result<Option<Why>, StoreError>;

    /// Forgets nights with a `Day` before `day`.
    async fn forget(&self, day: domain::Day) -> Result<u64, StoreError>;
}

/// Who holds a lease: a number drawn at random at the start of a process or of the work on a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner(pub u64);

/// An answer to the wish for a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardLease {
    /// Held by the asker, under this epoch.
    Held(u64),
    /// Held by another.
    Taken,
}

/// What came of a seal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sealed {
    /// Written now.
    Written,
    /// The key was sealed before; that seal stands.
    Stands,
    /// This zone was sealed at another instant of the same night; nothing was written.
    ZoneTaken(Zone, Instant),
}

/// Whether an epoch was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raised {
    /// Accepted.
    Yes,
    /// A higher one is held: somebody else owns the shard.
    Outbid(u64),
}

/// How far a seal has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Batches confirmed by the queue.
    pub batches: u32,
    /// Whether it was closed.
    pub closed: bool,
    /// The latest deadline of its zones, in Unix seconds.
    pub deadline: i64,
    /// Users in it that are open.
    pub open: u64,
}

/// One step of the work on a batch.
#[derive(Clone, Debug)]
pub struct Step {
    /// The seal the batch was cut from.
    pub seal: SealKey,
    /// The batch.
    pub batch: BatchId,
    /// Its attempt.
    pub attempt: u8,
    /// Its channel, on which its users are booked.
    pub channel: ChannelName,
    /// Who works on it.
    pub owner: Owner,
    /// How long the lease on the batch is to last from now (real time); zero gives it up.
    pub term: Duration,
    /// Outcomes of claimed positions, to be booked. One that the batch no longer holds is passed over.
    pub done: Vec<Done>,
    /// Positions to claim, each with the zone it was sealed in.
    pub claim: Vec<(u32, Zone)>,
    /// What has to be published before the batch may be acknowledged: kept in the same step as the outcomes that ask for
    /// it, so that work that is interrupted publishes the very same. The ledger does not read it. `None` changes nothing.
    pub pending: Option<Vec<u8>>,
    /// When the chunk was pushed, kept for "when?".
    pub at: Instant,
}

/// The outcome of one claimed position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The position.
    pub position: u32,
    /// The zone it was sealed in.
    pub zone: Zone,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stepped {
    /// Done. For each position of `claim`, in order, its claim if it is now this batch's.
    Done(Vec<Option<Claim>>),
    /// Another owner holds the lease on the batch for so long; nothing changed.
    Held(Duration),
    /// There is no such seal, or no such position in it; nothing changed.
    NoSeal,
}

/// A claim as it is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The claim.
    pub claim: Claim,
    /// The channel it was moved to, if it was.
    pub moved: Option<ChannelName>,
}

/// What closing a seal booked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ClosedOpen {
    /// Never published.
    pub missed: u64,
    /// Published and never worked.
    pub never_worked: u64,
    /// Worked, and still waiting for another try.
    pub expired: u64,
    /// Claimed and never recorded, or perhaps taken.
    pub uncertain: u64,
}

/// What is known of one user's push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The seal.
    pub seal: SealKey,
    /// The place in it.
    pub position: u32,
    /// The second of the window.
    pub slot: u32,
    /// The zone.
    pub zone: Zone,
    /// The channel it is booked on.
    pub channel: ChannelName,
    /// The claim as it stands.
    pub claim: Claim,
    /// When a chunk with this user was worked, oldest first.
    pub worked: Vec<Worked>,
}

/// A chunk that was worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worked {
    /// When.
    pub at: Instant,
    /// The batch.
    pub batch: BatchId,
    /// Its attempt.
    pub attempt: u8,
}
