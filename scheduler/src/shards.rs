use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use domain::{Shard, ShardCount};
use night_ledger::{NightLedger, Owner, ShardLease, StoreError};

use crate::first_error::FirstError;

/// The shards this scheduler owns, each with its epoch, held by leases that are renewed in a third of their term.
pub(crate) struct Shards {
    owner: Owner,
    term: Duration,
    held: BTreeMap<Shard, Lease>,
    renewed: Option<Instant>,
    /// The shard at which the next renewal begins: one that fails is not in the way of the others for ever.
    from: u32,
}

/// The lease on a shard.
struct Lease {
    epoch: u64,
    until: Instant,
}

/// Leases that may fail before a renewal is put off: all of a ledger that is away are not waited for.
const MOST_FAILURES: u32 = 3;

impl Shards {
    pub(crate) fn new(owner: Owner, term: Duration) -> Self {
        Self { owner, term, held: BTreeMap::new(), renewed: None, from: 0 }
    }

    /// The epoch of a shard this owner holds.
    pub(crate) fn epoch(&self, shard: Shard) -> Option<u64> {
        self.held.get(&shard).map(|lease| lease.epoch)
    }

    /// All that are held, with their epochs.
    pub(crate) fn epochs(&self) -> BTreeMap<Shard, u64> {
        self.held.iter().map(|(&shard, lease)| (shard, lease.epoch)).collect()
    }

    /// Whether the leases are to be taken or renewed now.
    pub(crate) fn due(&self) -> bool {
        self.renewed.is_none_or(|at| at.elapsed() >= self.term / 3)
    }

    /// Has the leases renewed at the next opportunity.
    pub(crate) fn again(&mut self) {
        self.renewed = None;
    }

    /// Takes or renews the leases on the first `count` shards. A shard that could not be renewed is held until its term ran
    /// out, then it may be another's.
    pub(crate) async fn renew(
        &mut self,
        ledger: &dyn NightLedger,
        count: ShardCount,
    ) -> Result<(), StoreError> {
        let began = Instant::now();
        let (mut first, mut failures) = (FirstError::default(), 0);
        let from = self.from % count.get();
        for shard in (from..count.get()).chain(0..from).map(Shard) {
            let asked = Instant::now();
            match first.note(ledger.lease_shard(shard, self.owner, self.term).await) {
                Some(ShardLease::Held(epoch)) => {
                    self.held.insert(shard, Lease { epoch, until: asked + self.term });
                }
                Some(ShardLease::Taken) => {
                    self.held.remove(&shard);
                }
                None => {
                    failures += 1;
                    self.from = shard.0 + 1;
                }
            }
            if failures >= MOST_FAILURES {
                break;
            }
        }
        self.held.retain(|_, lease| lease.until > Instant::now());
        self.renewed = first.none().then_some(began);
        first.end()
    }
}
