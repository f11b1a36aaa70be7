//! What a night owes and what came of it: seals, claims, outcomes, sums, checkpoints and leases.
//!
//! For every night, by zone, shard and channel, at every moment:
//! `due = delivered + suppressed + expired + missed + aborted + rejected + dead + uncertain + open`.
//! What counts together changes in one step.

mod brake;
mod claim;
mod closing;
mod embedded;
mod fields;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod lease;
mod outcome;
mod redis;
mod runs;
mod seal;
mod step;
mod sums;
mod turn;
mod why;

use std::time::Duration;

pub use self::redis::RedisLedger;
use async_trait::async_trait;
pub use brake::{Brake, Brakes};
pub use claim::{Claim, MOST_ATTEMPTS, State};
pub use closing::ClosedOpen;
use domain::{BatchId, ChannelName, Instant, Night, SealKey, Shard, ShardCount, Uid, Zone};
pub use embedded::EmbeddedLedger;
pub use lease::{Group, Owner, ShardLease};
pub use outcome::{Class, Outcome, Reason};
pub use plumbing::StoreError;
pub use seal::{Due, Seal, SealZone};
pub use step::{Done, Step, Stepped};
pub use sums::{Line, Sums};
pub use why::{Why, Worked};

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

    /// Whether nobody else can have the ledger open, now or a moment ago: then whoever was there before is dead, and what it
    /// pushed is no longer in flight.
    fn exclusive(&self) -> bool {
        false
    }

    /// Announces `owner` as alive in `group` for `term` from now and answers who is alive there, itself included, by
    /// number.
    async fn members(&self, group: Group, owner: Owner, term: Duration) -> Result<Vec<Owner>, StoreError>;

    /// Takes `owner` out of `group`.
    async fn leave(&self, group: Group, owner: Owner) -> Result<(), StoreError>;

    /// Takes or renews the lease on a shard for `term`, under an epoch above `above` (0: under any). The epoch rises with
    /// every lease that is not a renewal; a lease of the asker's own whose epoch is not above `above` is not renewed but
    /// taken anew. What another has stays the other's, whatever its epoch.
    async fn lease_shard(
        &self,
        shard: Shard,
        owner: Owner,
        term: Duration,
        above: u64,
    ) -> Result<ShardLease, StoreError>;

    /// Gives the lease on a shard up, if `owner` has it. The epoch stays.
    async fn release_shard(&self, shard: Shard, owner: Owner) -> Result<(), StoreError>;

    /// Puts a brake on a night or on one of its zones, or takes it off (`None`). An abort stays: it is neither taken off
    /// nor turned into a pause.
    async fn set_brake(
        &self,
        night: &Night,
        zone: Option<Zone>,
        brake: Option<Brake>,
    ) -> Result<(), StoreError>;

    /// The brakes on a night.
    async fn brakes(&self, night: &Night) -> Result<Brakes, StoreError>;

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

    /// What the steps on a batch left to be published: of each owner the last it handed in, as it was. See
    /// [`Step::pending`].
    async fn pending(&self, key: &SealKey, batch: BatchId) -> Result<Vec<Vec<u8>>, StoreError>;

    /// Forgets these bytes of what was left to be published, whoever left them: they are. What was left since in their
    /// place stays.
    async fn published(&self, key: &SealKey, batch: BatchId, bytes: &[u8]) -> Result<(), StoreError>;

    /// The claims at `positions` of a seal, in their order.
    async fn claims(&self, key: &SealKey, positions: &[u32]) -> Result<Vec<Held>, StoreError>;

    /// Closes what is still open in a seal after its deadline: from position `published` on as missed, before it as
    /// expired (`never_worked`, or `deadline` for one that waited for another try), and as uncertain what is claimed or may
    /// have been taken. Answers how many of each.
    async fn close(&self, key: &SealKey, published: u32) -> Result<ClosedOpen, StoreError>;

    /// Closes what is free in a seal as [`Reason::Operator`], in these zones or in all; what may have been taken ends as
    /// [`Reason::NoAnswer`]. What is claimed is left to whoever has it. Answers how many were closed.
    async fn abort(&self, key: &SealKey, zones: Option<&[Zone]>) -> Result<u64, StoreError>;

    /// For the replay of a dead letter: sets free, at the first attempt, which of these positions are closed as
    /// [`Reason::Attempts`]; the others stay. Answers how many were; none when the seal is closed.
    async fn reopen(&self, key: &SealKey, positions: &[u32]) -> Result<u64, StoreError>;

    /// The sums of a night by zone, shard and channel, as counted while it went on.
    async fn sums(&self, night: &Night) -> Result<Sums, StoreError>;

    /// The same from the claims themselves.
    async fn recount(&self, night: &Night) -> Result<Sums, StoreError>;

    /// What is known of one user's push.
    async fn why(&self, night: &Night, uid: Uid) -> Result<Option<Why>, StoreError>;

    /// Forgets nights with a `Day` before `day`.
    async fn forget(&self, day: domain::Day) -> Result<u64, StoreError>;
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

/// A claim as it is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The claim.
    pub claim: Claim,
    /// The channel it was moved to, if it was.
    pub moved: Option<ChannelName>,
}
