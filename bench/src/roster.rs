//! The roster: the column loaded from Redis, and the seals of a night made from it, for neighbouring uids and for any.

mod fill;
mod no_queue;
mod sealing;

use std::{sync::Arc, time::Instant};

use anyhow::ensure;
use directory::{Column, Directory, RedisDirectory};

use self::{fill::fill, sealing::sealing};
use crate::{
    bar::Bar,
    figures::{per, rate},
    hour::{Hour, hour},
    measure::CpuPerUser,
    profile::Profile,
    registry::{Bench, Run, Running},
    seals::Uids,
    servers::{Durability, Redis},
    size::Size,
    stores,
};

/// The bench.
pub(crate) const BENCH: Bench = Bench {
    name: "roster",
    about: "the column of 10,000,000 users loaded from Redis, and a night of 64 shards sealed from it",
    users: 10_000_000,
    memory: 60,
    run: |run| -> Running<'_> { Box::pin(roster(run)) },
};

/// Seconds to load the column at medium, at most.
const LOADING: f64 = 6.0;
/// Bytes of the pages a user, at most; where a page has but a few users, its head weighs too much for that.
const PAGES: f64 = 8.0;
/// Bytes of the column a user, at most.
const COLUMN: f64 = 8.0;
/// Seconds of one core to seal at medium, at most.
const SEALING: f64 = 1.0;
/// Bytes of the seals a user with neighbouring uids, at most.
const SEAL: f64 = 2.0;

/// The bench's names for one kind of uids.
struct Names {
    filled: &'static str,
    page: &'static str,
    load: &'static str,
    column: &'static str,
    seal: &'static str,
    sealed: &'static str,
    seal_bytes: &'static str,
    enumerate: &'static str,
}

const DENSE: Names = Names {
    filled: "dense_fill",
    page: "dense_pages",
    load: "dense_load",
    column: "dense_column",
    seal: "dense_seal",
    sealed: "dense_sealed_after",
    seal_bytes: "dense_seal_bytes",
    enumerate: "dense_enumerate",
};
const RANDOM: Names = Names {
    filled: "random_fill",
    page: "random_pages",
    load: "random_load",
    column: "random_column",
    seal: "random_seal",
    sealed: "random_sealed_after",
    seal_bytes: "random_seal_bytes",
    enumerate: "random_enumerate",
};

async fn roster(run: &mut Run<'_>) -> anyhow::Result<()> {
    let hour = hour(chrono::Utc::now())?;
    measure(run, &hour, Uids::Dense, &DENSE).await?;
    measure(run, &hour, Uids::Random, &RANDOM).await
}

async fn measure(run: &mut Run<'_>, hour: &Hour, uids: Uids, names: &Names) -> anyhow::Result<()> {
    let (users, none) = (run.users, CpuPerUser::new);
    let folder = crate::program::folder(run.program)?;
    // nothing of it has to last
    let redis = Redis::start(folder.path(), Durability::Memory)?;
    let directory = Arc::new(RedisDirectory::new(stores::access(&redis, Durability::Memory)?));
    let begun = Instant::now();
    fill(&directory, users, uids, hour).await?;
    run.tell(names.filled, rate(users, begun.elapsed().as_secs_f64()), "users/s", none(), None);
    let bar = (uids == Uids::Dense || run.size != Size::Small).then_some(Bar::AtMost(PAGES));
    run.tell(names.page, per(page_bytes(&*directory).await?, users), "bytes/user", none(), bar);

    let processes = [("redis", redis.pid()), ("bench", std::process::id())];
    let (profile, begun, mut column) = (Profile::begin(&processes)?, Instant::now(), Column::default());
    column.refresh(&*directory, chrono::Utc::now()).await?;
    let (took, cpu) = (begun.elapsed().as_secs_f64(), profile.per_user(users)?);
    ensure!(column.users() == users, "the column has {} users, not {users}", column.users());
    run.tell(names.load, took, "s", cpu, Some(Bar::AtMost(run.size.bound(LOADING, 0.0))));
    let bytes = u64::try_from(column.bytes())?;
    run.tell(names.column, per(bytes, users), "bytes/user", none(), Some(Bar::AtMost(COLUMN)));
    drop(column);

    let night = sealing(&redis, directory, hour, users).await?;
    let bar = Some(Bar::AtMost(run.size.bound(SEALING, 0.0)));
    run.tell(names.seal, night.core.as_secs_f64(), "s of a core", night.cpu, bar);
    run.tell(names.sealed, night.took.as_secs_f64(), "s", none(), None);
    let bar = (uids == Uids::Dense).then_some(Bar::AtMost(SEAL));
    run.tell(names.seal_bytes, per(night.bytes, users), "bytes/user", none(), bar);
    run.tell(names.enumerate, night.enumerated.as_secs_f64(), "s", none(), None);
    Ok(())
}

/// What all pages take in the store.
async fn page_bytes(directory: &dyn Directory) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for (part, changed) in (0..).zip(directory.changed(&[]).await?) {
        for numbers in changed.pages.chunks(directory::MOST_PAGES) {
            let pages = directory.pages(part, numbers).await?;
            bytes += pages.iter().flatten().map(|page| page.size() as u64).sum::<u64>();
        }
    }
    Ok(bytes)
}
