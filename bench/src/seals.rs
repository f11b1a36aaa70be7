//! Seals of a night as the scheduler makes them, without a directory.

use std::num::NonZeroU32;

use anyhow::{Context, ensure};
use chrono::TimeDelta;
use domain::{ChannelName, Night, SealKey, Shard, ShardCount, Uid, slot};
use night_ledger::{Due, NightLedger, Seal, SealZone, Sealed};
use xxhash_rust::xxh3::xxh3_64;

use crate::hour::{Hour, WINDOW};

/// Shards of the night.
pub(crate) const SHARDS: u32 = 64;

/// Which numbers users have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Uids {
    /// 1, 2, 3 and on.
    Dense,
    /// Any 64 bits.
    Random,
}

impl Uids {
    /// The `nth` user.
    pub(crate) fn nth(self, nth: u64) -> Uid {
        match self {
            Self::Dense => Uid(nth + 1),
            Self::Random => Uid(xxh3_64(&nth.to_le_bytes())),
        }
    }
}

/// The seals of all shards: `users` of them, dealt out to the first `zones` of the hour's in turn, all on the channel
/// `stub`.
pub(crate) fn seals(
    users: u64,
    uids: Uids,
    hour: &Hour,
    zones: usize,
    campaign: &str,
) -> anyhow::Result<Vec<(SealKey, Seal)>> {
    let n: ShardCount = NonZeroU32::new(SHARDS).context("no shards")?;
    let night = Night { campaign: campaign.parse()?, day: hour.day };
    let channels: Vec<ChannelName> = vec!["stub".parse()?];
    let deadline = hour.fires + TimeDelta::hours(2);
    let zones = hour.zones.iter().take(zones).map(|&zone| SealZone { zone, deadline }).collect::<Vec<_>>();
    let mut due = vec![Vec::new(); usize::try_from(SHARDS)?];
    for nth in 0..users {
        let uid = uids.nth(nth);
        let zone = u8::try_from(usize::try_from(nth)? % zones.len())?;
        let shard = usize::try_from(Shard::of(uid, n).0)?;
        due[shard].push(Due { uid, slot: slot(uid, WINDOW), channel: 0, zone, closed: None });
    }
    let seals = Shard::all(n).zip(due).map(|(shard, due)| {
        let key = SealKey { night: night.clone(), shard, instant: hour.fires };
        let mut seal = Seal { n, window: WINDOW, channels: channels.clone(), zones: zones.clone(), due };
        seal.sort();
        (key, seal)
    });
    Ok(seals.collect())
}

/// Writes them into a ledger that has nothing of the night yet.
pub(crate) async fn write(ledger: &dyn NightLedger, seals: &[(SealKey, Seal)]) -> anyhow::Result<()> {
    let (first, seal) = seals.first().context("no seals")?;
    ensure!(ledger.shard_count(&first.night, seal.n).await? == seal.n, "another shard count is written");
    for (key, seal) in seals {
        ensure!(ledger.seal(key, seal).await? == Sealed::Written, "{key} was not sealed");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::hour::hour;

    #[test]
    fn everybody_is_in_one_seal_and_in_order() {
        let hour = hour(chrono::Utc::now()).unwrap();
        for uids in [Uids::Dense, Uids::Random] {
            let seals = seals(10_000, uids, &hour, 30, "nightly").unwrap();
            assert_eq!(seals.len(), 64);
            let all = seals.iter().flat_map(|(_, seal)| &seal.due);
            assert_eq!(all.map(|due| due.uid).collect::<BTreeSet<_>>().len(), 10_000);
            assert!(
                seals.iter().all(|(_, seal)| seal.zones.len() == 30 && seal.due.is_sorted_by_key(|d| d.uid))
            );
        }
    }
}
