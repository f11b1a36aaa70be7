mod fair;
mod keeping;

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use domain::{Shard, ShardCount};
use futures_util::{StreamExt, stream};
use night_ledger::{Group, NightLedger, Owner, ShardLease, StoreError};
use tokio::time::timeout;

use self::fair::Live;
pub(crate) use self::keeping::Keeping;
use crate::first_error::FirstError;

/// The shards this scheduler owns, each with its epoch, held by leases that are renewed in a third of their term; and which
/// of them are its own among the schedulers that live.
pub(crate) struct Shards {
    owner: Owner,
    term: Duration,
    held: BTreeMap<Shard, Lease>,
    /// Shards of which a night is held under this epoch, which is above that of our lease: one above it is wanted.
    outbid: BTreeMap<Shard, u64>,
    live: Live,
    renewed: Option<Instant>,
    /// When the leases were last renewed or kept.
    kept: Option<Instant>,
    /// The shard at which the next renewal begins: one that fails is not in the way of the others for ever.
    from: u32,
    /// Whether all that are its own are held, as of the last renewal.
    whole: bool,
}

/// The lease on a shard.
struct Lease {
    epoch: u64,
    until: Instant,
}

/// Leases that may fail before a renewal is put off: all of a ledger that is away are not waited for.
const MOST_FAILURES: u32 = 3;
/// Leases asked for at once.
const AT_ONCE: usize = 32;

impl Shards {
    pub(crate) fn new(owner: Owner, term: Duration) -> Self {
        let (held, outbid, live) = (BTreeMap::new(), BTreeMap::new(), Live::new(owner));
        Self { owner, term, held, outbid, live, renewed: None, kept: None, from: 0, whole: false }
    }

    /// The epoch of a shard this owner holds.
    pub(crate) fn epoch(&self, shard: Shard) -> Option<u64> {
        self.held.get(&shard).map(|lease| lease.epoch)
    }

    /// All that are held, with their epochs.
    pub(crate) fn epochs(&self) -> BTreeMap<Shard, u64> {
        self.held.iter().map(|(&shard, lease)| (shard, lease.epoch)).collect()
    }

    /// Schedulers that live, this one included.
    pub(crate) fn members(&self) -> usize {
        self.live.count()
    }

    /// Whether all shards that are its own were held at the last renewal.
    pub(crate) fn whole(&self) -> bool {
        self.whole && self.renewed.is_some()
    }

    /// Whether shards are to be taken, renewed and given up now.
    pub(crate) fn due(&self) -> bool {
        self.renewed.is_none_or(|at| at.elapsed() >= self.term / 3)
    }

    /// Whether the leases are to be kept now, in the middle of something long.
    pub(crate) fn keep_due(&self) -> bool {
        self.kept.is_some_and(|at| at.elapsed() >= self.term / 3)
    }

    /// Has the leases renewed at the next opportunity.
    pub(crate) fn again(&mut self) {
        self.renewed = None;
    }

    /// Takes a shard for lost of which a night is held under epoch `above`, and has a lease above it asked for at the next
    /// opportunity, unless it is another's.
    pub(crate) fn outbid(&mut self, shard: Shard, above: u64) {
        self.held.remove(&shard);
        let known = self.outbid.entry(shard).or_default();
        *known = above.max(*known);
        self.again();
    }

    /// Whether a shard is held, or was not found to be another's since it was outbid.
    pub(crate) fn wants(&self, shard: Shard) -> bool {
        self.held.contains_key(&shard) || self.outbid.contains_key(&shard)
    }

    /// Announces this scheduler, gives up what is another's among those that live, and takes or renews the leases on its
    /// own shards of the first `count`. A shard that could not be renewed is held until its term ran out, then it may be
    /// another's. Nothing may be on its way to the queue: the other may begin at once.
    pub(crate) async fn renew(
        &mut self,
        ledger: &dyn NightLedger,
        count: ShardCount,
    ) -> Result<(), StoreError> {
        let (began, mut first) = (Instant::now(), FirstError::default());
        first.note(self.announce(ledger).await);
        let mine = self.held.keys().chain(self.outbid.keys()).copied();
        let foreign: Vec<_> = mine.filter(|shard| !self.live.owns(*shard)).collect();
        first.note(self.release(ledger, foreign).await);
        let live = &self.live;
        self.outbid.retain(|shard, _| live.owns(*shard) && shard.0 < count.get());
        let from = self.from % count.get();
        let own = (from..count.get()).chain(0..from).map(Shard);
        let own: Vec<_> = own.filter(|shard| self.live.owns(*shard)).collect();
        let wanted = own.len();
        first.note(self.lease(ledger, own).await);
        self.whole = first.none() && self.live.known() && self.held.len() >= wanted;
        self.renewed = first.none().then_some(began);
        first.end()
    }

    /// Announces this scheduler and renews what it holds, and nothing else.
    pub(crate) async fn keep(&mut self, ledger: &dyn NightLedger) -> Result<(), StoreError> {
        let mut first = FirstError::default();
        first.note(self.announce(ledger).await);
        let held = self.held.keys().copied().collect();
        first.note(self.lease(ledger, held).await);
        first.end()
    }

    /// Gives everything up and takes its leave, so that others need not wait for the end of a term.
    pub(crate) async fn leave(&mut self, ledger: &dyn NightLedger) -> Result<(), StoreError> {
        let mut first = FirstError::default();
        // first, so that none of the others takes it for the rightful owner any more
        first.note(self.in_time(ledger.leave(Group::Schedulers, self.owner)).await);
        let held = self.held.keys().chain(self.outbid.keys()).copied().collect();
        self.outbid.clear();
        first.note(self.release(ledger, held).await);
        self.renewed = None;
        first.end()
    }

    async fn announce(&mut self, ledger: &dyn NightLedger) -> Result<(), StoreError> {
        let asked = Instant::now();
        self.kept = Some(asked);
        let live = self.in_time(ledger.members(Group::Schedulers, self.owner, self.term)).await?;
        self.live.set(live);
        Ok(())
    }

    async fn lease(&mut self, ledger: &dyn NightLedger, shards: Vec<Shard>) -> Result<(), StoreError> {
        let (owner, term) = (self.owner, self.term);
        let (mut first, mut failures, mut from) = (FirstError::default(), 0, self.from);
        // where a ledger lost its leases, or was set back, their epochs may begin below those its nights hold
        let above = |shard| self.outbid.get(&shard).copied().unwrap_or(0);
        let shards: Vec<_> = shards.into_iter().map(|shard| (shard, above(shard))).collect();
        let asking = stream::iter(shards).map(|(shard, above)| async move {
            let asked = Instant::now();
            let lease = in_time(term, ledger.lease_shard(shard, owner, term, above)).await;
            (shard, asked, lease)
        });
        let mut answers = asking.buffer_unordered(AT_ONCE);
        while let Some((shard, asked, lease)) = answers.next().await {
            match first.note(lease) {
                Some(ShardLease::Held(epoch)) => {
                    self.outbid.remove(&shard);
                    self.held.insert(shard, Lease { epoch, until: asked + term });
                }
                Some(ShardLease::Taken) => {
                    self.outbid.remove(&shard);
                    self.held.remove(&shard);
                }
                None => {
                    failures += 1;
                    from = shard.0 + 1;
                }
            }
            if failures >= MOST_FAILURES {
                break;
            }
        }
        drop(answers);
        self.from = from;
        self.held.retain(|_, lease| lease.until > Instant::now());
        first.end()
    }

    /// Gives leases up. One whose release fails is not held any more either: it ends by itself.
    async fn release(&mut self, ledger: &dyn NightLedger, shards: Vec<Shard>) -> Result<(), StoreError> {
        let (owner, term, mut first) = (self.owner, self.term, FirstError::default());
        self.held.retain(|shard, _| !shards.contains(shard));
        let releasing = stream::iter(shards)
            .map(|shard| async move { in_time(term, ledger.release_shard(shard, owner)).await });
        let mut answers = releasing.buffer_unordered(AT_ONCE);
        while let Some(end) = answers.next().await {
            if first.note(end).is_none() {
                break;
            }
        }
        first.end()
    }

    async fn in_time<T>(&self, asked: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        in_time(self.term, asked).await
    }
}

/// What the ledger answers within half a term: later it is worth nothing.
async fn in_time<T>(
    term: Duration,
    asked: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let late = || StoreError::Unavailable("the ledger did not answer for a lease in time".into());
    timeout(term / 2, asked).await.unwrap_or_else(|_| Err(late()))
}
