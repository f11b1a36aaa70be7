//! The step store on Redis: what a user-day and an id take, and how fast numbers are read.

mod fill;
mod mget;
mod read;

use domain::Day;

use crate::{
    bar::Bar,
    figures::{per, rate},
    measure::CpuPerUser,
    profile::Profile,
    registry::{Bench, Run, Running},
    servers::{Durability, Redis},
    stores,
    usage::bytes_by_kind,
};

/// The bench.
pub(crate) const BENCH: Bench = Bench {
    name: "store",
    about: "bytes of a user-day of two sources and of an id in the step store on Redis; numbers of 200 random friends and of \
            a batch of 1,000 against MGET of 200 random keys by redis-benchmark",
    users: 1_000_000,
    memory: 200,
    run: |run| -> Running<'_> { Box::pin(store(run)) },
};

/// Bytes a user-day, at most.
const BYTES: f64 = 24.0;
/// Of the rate at which MGET reads keys, at least.
const READS: f64 = 0.9;
/// Friends of a board.
const FRIENDS: usize = 200;
/// Users of a batch, and how far they are apart: shards times slots.
const BATCH: (usize, u64) = (1_000, 240);
/// Reports with an id, of which each user gives ten.
const IDS: u64 = 1_000_000;

async fn store(run: &mut Run<'_>) -> anyhow::Result<()> {
    let (folder, users) = (crate::program::folder(run.program)?, run.users);
    let redis = Redis::start(folder.path(), Durability::Wal)?;
    let (store, day) = (stores::steps(&redis, Durability::Wal)?, "20260607".parse::<Day>()?);
    let profile = Profile::begin(&[("redis", redis.pid()), ("bench", std::process::id())])?;
    let seconds = fill::two_sources(&store, users, day).await?;
    run.tell("reports_of_totals", rate(2 * users, seconds), "reports/s", profile.per_user(2 * users)?, None);
    let bytes = bytes_by_kind(&redis.url(), "*").await?;
    eprintln!("bytes by kind of key: {bytes:?}");
    let pages =
        bytes.get("steps").copied().unwrap_or_default() + bytes.get("days").copied().unwrap_or_default();
    run.tell("bytes", per(pages, users), "bytes/user-day", CpuPerUser::new(), Some(Bar::AtMost(BYTES)));
    let baseline = mget::baseline(&redis, users).await?;
    for (name, reads) in
        [("friends", read::friends(users, FRIENDS)), ("batch", read::batches(users, BATCH.0, BATCH.1))]
    {
        let numbers = reads.iter().map(Vec::len).sum::<usize>() as u64;
        let profile = Profile::begin(&[("redis", redis.pid()), ("bench", std::process::id())])?;
        let seconds = read::all(&store, reads, day).await?;
        let (ours, cpu) = (rate(numbers, seconds), profile.per_user(numbers)?);
        run.tell_against(name, ours, "users/s", Some(baseline), cpu, Some(Bar::RatioAtLeast(READS)));
    }
    let ids = IDS.min(users);
    let profile = Profile::begin(&[("redis", redis.pid()), ("bench", std::process::id())])?;
    let seconds = fill::increments(&store, ids / 10, day).await?;
    run.tell("reports_with_ids", rate(ids, seconds), "reports/s", profile.per_user(ids)?, None);
    let bytes = bytes_by_kind(&redis.url(), "*:ids:*").await?;
    let bytes = bytes.get("ids").copied().unwrap_or_default();
    run.tell("bytes_of_ids", per(bytes, ids), "bytes/id", CpuPerUser::new(), None);
    Ok(())
}
