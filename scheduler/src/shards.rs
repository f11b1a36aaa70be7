use std::{collections::BTreeMap, time::Duration};

use domain::{Shard, ShardCount};
use night_ledger::{NightLedger, Owner, ShardLease, StoreError};

/// The shards this scheduler owns, each with its epoch, held by leases that are renewed in a third of their term.
pub(crate) struct Shards {
    owner: Owner,
    term: Duration,
    held: BTreeMap<Shard, u64>,
    renewed: Option<std::time::Instant>,
}

impl Shards {
    pub(crate) fn new(owner: Owner, term: Duration) -> Self {
        Self { owner, term, held: BTreeMap::new(), renewed: None }
    }

    /// The epoch of a shard this owner holds.
    pub(crate) fn epoch(&self, shard: Shard) -> Option<u64> {
        self.held.get(&shard).copied()
    }

    /// Whether the leases are to be taken or renewed now.
    pub(crate) fn due(&self) -> bool {
        self.renewed.is_none_or(|at| at.elapsed() >= self.term / 3)
    }

    /// Takes or renews the leases on the first `count` shards. A shard that could not be renewed is given up.
    pub(crate) async fn renew(
        &mut self,
        ledger: &dyn NightLedger,
        count: ShardCount,
    ) -> Result<(), StoreError> {
        let at = std::time::Instant::now();
        for shard in Shard::all(count) {
            match ledger.lease_shard(shard, self.owner, self.term).await {
                Ok(ShardLease::Held(epoch)) => {
                    self.held.insert(shard, epoch);
                }
                Ok(ShardLease::Taken) => {
                    self.held.remove(&shard);
                }
                Err(error) => {
                    // what cannot be renewed may be another's by now
                    self.held.clear();
                    self.renewed = None;
                    return Err(error);
                }
            }
        }
        self.renewed = Some(at);
        Ok(())
    }
}
