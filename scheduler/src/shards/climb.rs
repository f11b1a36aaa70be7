use std::time::{Duration, Instant};

use domain::Shard;
use night_ledger::{NightLedger, Owner, ShardLease, StoreError};

use super::in_time;

/// How long one renewal gives leases up and takes them again; the next one goes on.
const LONGEST: Duration = Duration::from_millis(250);

/// How a shard's lease is asked for.
#[derive(Clone, Copy)]
pub(super) struct Bid {
    pub(super) owner: Owner,
    pub(super) term: Duration,
    /// When the renewal began.
    pub(super) began: Instant,
}

impl Bid {
    /// Takes or renews a lease; answers when it was asked for, too. After a ledger lost its leases, or was set back, their
    /// epochs begin below those its nights hold, and nobody could publish: a lease that has to be `above` an epoch is given
    /// up and taken anew, each time under a higher one, until it is. What is another's stays another's.
    pub(super) async fn lease(
        self,
        ledger: &dyn NightLedger,
        shard: Shard,
        above: Option<u64>,
    ) -> (Instant, Result<ShardLease, StoreError>) {
        loop {
            if above.is_some()
                && let Err(error) = in_time(self.term, ledger.release_shard(shard, self.owner)).await
            {
                return (Instant::now(), Err(error));
            }
            let asked = Instant::now();
            let lease = in_time(self.term, ledger.lease_shard(shard, self.owner, self.term)).await;
            let low =
                matches!((&lease, above), (Ok(ShardLease::Held(epoch)), Some(above)) if *epoch <= above);
            if !low || self.began.elapsed() >= LONGEST {
                return (asked, lease);
            }
        }
    }
}
