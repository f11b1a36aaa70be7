use std::{sync::Arc, time::Instant};

use anyhow::ensure;
use domain::{Day, Uid};
use futures_util::{StreamExt, TryStreamExt, stream};
use step_store::{Read, StepStore};
use xxhash_rust::xxh3::xxh3_64;

/// Reads under way, as many as the baseline has connections.
const AT_ONCE: usize = 8;
/// Numbers that are read in all.
const NUMBERS: usize = 4_000_000;

/// Boards of so many random users each.
pub(super) fn friends(users: u64, friends: usize) -> Vec<Vec<Uid>> {
    let uid = |n: usize| Uid(xxh3_64(&(n as u64).to_le_bytes()) % users);
    (0..NUMBERS / friends).map(|board| (0..friends).map(|n| uid(board * friends + n)).collect()).collect()
}

/// Batches of so many users each, who are so far apart.
pub(super) fn batches(users: u64, size: usize, apart: u64) -> Vec<Vec<Uid>> {
    let uid = |batch: usize, n: usize| Uid((batch as u64 * 7 + n as u64 * apart) % users);
    (0..NUMBERS / size).map(|batch| (0..size).map(|n| uid(batch, n)).collect()).collect()
}

/// Reads them all; seconds.
pub(super) async fn all(store: &Arc<dyn StepStore>, reads: Vec<Vec<Uid>>, day: Day) -> anyhow::Result<f64> {
    let begun = Instant::now();
    let reads = reads.into_iter().map(|uids| {
        let store = Arc::clone(store);
        async move {
            let read = tokio::spawn(async move { store.read_many(&uids, day).await }).await??;
            ensure!(!read.contains(&Read::Unreadable), "a page cannot be read");
            ensure!(read.iter().any(|read| *read != Read::Steps(0)), "nobody has steps");
            Ok(())
        }
    });
    stream::iter(reads).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    Ok(begun.elapsed().as_secs_f64())
}
