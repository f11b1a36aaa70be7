//! The step store on Redis: what a user-day takes of its memory, and how fast friends and batches are read.

mod filling;
mod reading;

use anyhow::{Context, ensure};
use domain::{Day, Uid};
use step_store::{RedisSteps, StepStore};

use self::{
    filling::{Ids, fill},
    reading::{Pick, read},
};
use crate::{
    bar::Bar,
    figures::{middle, per},
    measure::CpuPerUser,
    redis_benchmark,
    registry::{Bench, Run, Running},
    seals::Uids,
    servers::{Durability, Redis},
    stores,
    usage::bytes_by_kind,
};

/// The bench.
pub(crate) const BENCH: Bench = Bench {
    name: "store",
    about: "bytes a user-day in Redis, two sources each; reads of 200 random friends against MGET of 200, of a batch of 1,000",
    users: 1_000_000,
    memory: 600,
    run: |run| -> Running<'_> { Box::pin(store(run)) },
};

/// Bytes a user-day, at most.
const BYTES: f64 = 24.0;
/// Boards a second to `MGET`s a second, at least.
const READS: f64 = 0.9;
/// Calls of a round; rounds of ours and of the baseline alternate.
const CALLS: u64 = 20_000;
const ROUNDS: usize = 3;

async fn store(run: &mut Run<'_>) -> anyhow::Result<()> {
    let folder = crate::program::folder(run.program)?;
    let day: Day = "20260607".parse().context("a day")?;
    let redis = Redis::start(folder.path(), Durability::Memory)?;
    let steps = RedisSteps::new(stores::access(&redis, Durability::Memory)?);
    let users = uids(run.users, Uids::Dense);
    fill(&steps, &users, day, Ids::None).await?;
    tell_bytes(run, &redis, "bytes_dense", Some(Bar::AtMost(BYTES))).await?;
    redis_benchmark::fill(&redis).await?;
    for (name, pick, bar) in [
        ("read_200_friends", Pick::Random(200), Some(Bar::RatioAtLeast(READS))),
        ("read_batch_1000", Pick::Batch(1_000), None),
    ] {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let ours = read(&steps, &redis, &users, day, pick, CALLS).await?;
            let baseline = redis_benchmark::mget_200(&redis, CALLS).await?;
            rounds.push((ours, baseline));
        }
        let ((rate, cpu), baseline) = middle(name, rounds, |((ours, _), baseline)| ours / baseline)?;
        let baseline = bar.map(|_| baseline);
        run.tell_against(name, rate, "calls/s", baseline, cpu, bar);
    }
    drop((steps, redis));
    for (uids_kind, ids, name) in
        [(Uids::Random, Ids::None, "bytes_random_uids"), (Uids::Dense, Ids::Each(8), "bytes_with_ids")]
    {
        let redis = Redis::start(folder.path(), Durability::Memory)?;
        let steps = RedisSteps::new(stores::access(&redis, Durability::Memory)?);
        fill(&steps, &uids(run.users, uids_kind), day, ids).await?;
        tell_bytes(run, &redis, name, None).await?;
    }
    Ok(())
}

/// The memory of entries, and of ids where there are some.
async fn tell_bytes(
    run: &mut Run<'_>,
    redis: &Redis,
    name: &'static str,
    bar: Option<Bar>,
) -> anyhow::Result<()> {
    let mut bytes = bytes_by_kind(&redis.url(), "*").await?;
    eprintln!("bytes by kind of key: {bytes:?}");
    let entries = bytes.remove("steps").unwrap_or_default();
    ensure!(entries > 0, "there are no entries");
    run.tell(name, per(entries, run.users), "bytes/user-day", CpuPerUser::new(), bar);
    if let Some(ids) = bytes.remove("ids") {
        run.tell("ids_8_each", per(ids, run.users * 8), "bytes/id", CpuPerUser::new(), None);
    }
    Ok(())
}

fn uids(users: u64, kind: Uids) -> Vec<Uid> {
    (0..users).map(|nth| kind.nth(nth)).collect()
}
