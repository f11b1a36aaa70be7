use std::time::Instant;

use anyhow::ensure;
use domain::{Day, Uid};
use futures_util::future::try_join_all;
use step_store::{Read, StepStore};
use xxhash_rust::xxh3::xxh3_64;

use super::filling::steps;
use crate::{figures::rate, measure::CpuPerUser, profile::Profile, servers::Redis};

/// Whose numbers one call reads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pick {
    /// So many, drawn from all.
    Random(usize),
    /// So many, as a batch of a night has them: apart by shards times slots.
    Batch(usize),
}

/// Calls under way at once, as many as the baseline has connections.
const AT_ONCE: u64 = 8;
/// Uids between two neighbours of a batch: 4 shards of 60 slots.
const APART: u64 = 240;

/// Calls a second, and the CPU of one.
pub(super) async fn read(
    store: &dyn StepStore,
    redis: &Redis,
    users: &[Uid],
    day: Day,
    pick: Pick,
    calls: u64,
) -> anyhow::Result<(f64, CpuPerUser)> {
    let profile = Profile::begin(&[("redis", redis.pid()), ("bench", std::process::id())])?;
    let begun = Instant::now();
    try_join_all((0..AT_ONCE).map(|reader| async move {
        for call in 0..calls / AT_ONCE {
            let uids = pick.uids(users, reader << 32 | call);
            let numbers = store.read_many(&uids, day).await?;
            let right = uids.iter().zip(&numbers).all(|(uid, read)| *read == Read::Steps(steps(*uid)));
            ensure!(right && numbers.len() == uids.len(), "a number is not the one that was stored");
        }
        anyhow::Ok(())
    }))
    .await?;
    Ok((rate(calls, begun.elapsed().as_secs_f64()), profile.per_user(calls)?))
}

impl Pick {
    fn uids(self, users: &[Uid], draw: u64) -> Vec<Uid> {
        let all = users.len() as u64;
        let at = |place: u64| users[usize::try_from(place % all).unwrap_or_default()];
        match self {
            Self::Random(count) => (0..count as u64)
                .map(|nth| at(xxh3_64(&[draw, nth].map(u64::to_le_bytes).concat())))
                .collect(),
            Self::Batch(count) => {
                let first = xxh3_64(&draw.to_le_bytes()) % all;
                (0..count as u64).map(|nth| at(first + nth * APART)).collect()
            }
        }
    }
}
