use domain::{Night, SealKey, Shard};
use night_ledger::{NightLedger, Progress, Raised, Seal, StoreError};

/// A night's shard, as it was found.
pub(super) enum Place {
    /// Ours, with its seals, each unless it is closed.
    Ours(Vec<(SealKey, Progress, Option<Seal>)>),
    /// Another scheduler's, under this epoch.
    Outbid(u64),
}

/// Raises the epoch of a night's shard first, then reads how far its seals are: nobody with a lower epoch moves them on
/// after that.
pub(super) async fn read(
    ledger: &dyn NightLedger,
    night: &Night,
    shard: Shard,
    epoch: u64,
) -> Result<Place, StoreError> {
    if let Raised::Outbid(held) = ledger.raise_epoch(night, shard, epoch).await? {
        return Ok(Place::Outbid(held));
    }
    let mut seals = Vec::new();
    for (key, progress) in ledger.seals(night, shard).await? {
        let seal = if progress.closed { None } else { ledger.sealed(&key).await? };
        seals.push((key, progress, seal));
    }
    Ok(Place::Ours(seals))
}
