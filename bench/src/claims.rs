//! Claims and outcomes against Redis, through the ledger's own step: what a night of pushes that take no time would ask
//! of it.

mod outcomes;
mod work;

use std::{path::Path, sync::Arc, time::Instant};

use anyhow::ensure;
use night_ledger::Reason;

use self::{
    outcomes::{Ends, Outcomes},
    work::work,
};
use crate::{
    bar::Bar,
    figures::{per, rate},
    hour::hour,
    measure::CpuPerUser,
    profile::Profile,
    registry::{Bench, Run, Running},
    seals::{Uids, seals, write},
    servers::{Durability, Redis},
    stores,
    usage::bytes_by_kind,
};

/// The bench.
pub(crate) const BENCH: Bench = Bench {
    name: "claims",
    about: "claim and outcome of each user in the night ledger on Redis, and the memory that takes; all delivered at once, \
            but for those named mixed: 10 % without steps, 2 % tried again, 0.5 % gone",
    users: 1_000_000,
    memory: 400,
    run: |run| -> Running<'_> { Box::pin(claims(run)) },
};

/// Users a second, at least.
const RATE: f64 = 500_000.0;
/// Bytes a user of a night beside the seal, at most.
const BYTES: f64 = 1.0;
/// Users of a chunk, as the program has it by default.
const CHUNK: usize = 100;
/// The most it may have.
const LARGE_CHUNK: usize = 1_000;

async fn claims(run: &mut Run<'_>) -> anyhow::Result<()> {
    let folder = crate::program::folder(run.program)?;
    for (durability, chunk, name) in [
        (Durability::Wal, CHUNK, "wal_chunk_100"),
        (Durability::Wal, LARGE_CHUNK, "wal_chunk_1000"),
        (Durability::Relaxed, CHUNK, "relaxed_chunk_100"),
        (Durability::Relaxed, LARGE_CHUNK, "relaxed_chunk_1000"),
    ] {
        let night =
            Worked::new(run, folder.path(), durability, Uids::Dense, chunk, Outcomes::Delivered).await?;
        run.tell(name, night.rate, "users/s", night.cpu, Some(Bar::AtLeast(RATE)));
        if (durability, chunk) == (Durability::Wal, CHUNK) {
            tell_bytes(run, &night.redis, ["bytes_dense", "seal_dense"]).await?;
        }
    }
    let (folder, wal, chunk) = (folder.path(), Durability::Wal, CHUNK);
    let night = Worked::new(run, folder, wal, Uids::Random, chunk, Outcomes::Delivered).await?;
    run.tell("wal_random_uids", night.rate, "users/s", night.cpu, Some(Bar::AtLeast(RATE)));
    tell_bytes(run, &night.redis, ["bytes_random", "seal_random"]).await?;
    drop(night.redis);
    let night = Worked::new(run, folder, wal, Uids::Dense, chunk, Outcomes::Mixed).await?;
    run.tell("wal_mixed", night.rate, "users/s", night.cpu, Some(Bar::AtLeast(RATE)));
    tell_bytes(run, &night.redis, ["bytes_mixed", "seal_mixed"]).await
}

async fn tell_bytes(run: &mut Run<'_>, redis: &Redis, names: [&'static str; 2]) -> anyhow::Result<()> {
    let mut bytes = bytes_by_kind(&redis.url(), "*").await?;
    eprintln!("bytes by kind of key: {bytes:?}");
    let seal = bytes.remove("seal").unwrap_or_default();
    let all = bytes.values().sum();
    let (none, bar) = (CpuPerUser::new, Some(Bar::AtMost(BYTES)));
    run.tell(names[0], per(all, run.users), "bytes/user", none(), bar);
    run.tell(names[1], per(seal, run.users), "bytes/user", none(), None);
    Ok(())
}

/// A night whose users were all claimed and worked to their end.
struct Worked {
    redis: Redis,
    rate: f64,
    cpu: CpuPerUser,
}

impl Worked {
    async fn new(
        run: &Run<'_>,
        folder: &Path,
        durability: Durability,
        uids: Uids,
        chunk: usize,
        outcomes: Outcomes,
    ) -> anyhow::Result<Self> {
        let (users, hour) = (run.users, hour(chrono::Utc::now())?);
        let redis = Redis::start(folder, durability)?;
        let ledger = stores::ledger(&redis, durability)?;
        let seals = seals(users, uids, &hour, 1, "nightly")?;
        write(&*ledger, &seals).await?;
        let night = seals[0].0.night.clone();
        let ends = outcomes.ends(seals.iter().map(|(_, seal)| seal));
        let profile = Profile::begin(&[("redis", redis.pid()), ("bench", std::process::id())])?;
        let begun = Instant::now();
        work(&ledger, Arc::new(seals), chunk, outcomes).await?;
        let (seconds, cpu) = (begun.elapsed().as_secs_f64(), profile.per_user(users)?);
        let sums = ledger.sums(&night).await?;
        let total = sums.total();
        let count = |reason: Reason| total.reasons[usize::from(reason.code())];
        let (no_steps, gone) = (count(Reason::NoSteps), count(Reason::DeviceGone));
        ensure!(
            total.due == users
                && total.open == 0
                && ends == Ends { delivered: total.delivered, no_steps, gone },
            "the night of {users} ended with {total:?}, not {ends:?}"
        );
        ensure!(ledger.recount(&night).await? == sums, "the recount disagrees");
        Ok(Self { redis, rate: rate(users, seconds), cpu })
    }
}
