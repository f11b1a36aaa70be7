use std::{
    num::NonZeroU32,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use chrono::TimeDelta;
use directory::Directory;
use domain::{Night, Shard};
use night_ledger::NightLedger;
use scheduler::Scheduler;

use super::no_queue::NoQueue;
use crate::{
    hour::Hour,
    measure::CpuPerUser,
    process,
    profile::Profile,
    schedule::scheduler,
    seals::SHARDS,
    servers::{Durability, Redis},
    stores,
    usage::bytes_by_kind,
};

/// What was measured of the sealing of a night.
pub(super) struct Sealing {
    /// CPU of the scheduler: reading the column, sorting, encoding, handing over.
    pub(super) core: Duration,
    /// Until the ledger had taken all seals.
    pub(super) took: Duration,
    /// CPU of all processes meanwhile.
    pub(super) cpu: CpuPerUser,
    /// What the seals take in the ledger.
    pub(super) bytes: u64,
    /// What reading all seals back and cutting them into batches took.
    pub(super) enumerated: Duration,
}

/// Users of a batch, at most: as many as the scheduler puts into one.
const BATCH: usize = 1_000;

/// Seals the night with the scheduler's own ticks.
pub(super) async fn sealing(
    redis: &Redis,
    directory: Arc<dyn Directory>,
    hour: &Hour,
    users: u64,
) -> anyhow::Result<Sealing> {
    let ledger = stores::ledger(redis, Durability::Memory)?;
    let mut scheduler = scheduler(directory, Arc::new(NoQueue), Arc::clone(&ledger), &["stub", "other"])?;
    // half an hour before there is nothing to seal yet: it loads the column
    let ahead = scheduler.tick(hour.fires - TimeDelta::minutes(30)).await?;
    ensure!(ahead.sealed == 0, "sealed too early: {ahead:?}");
    let processes = [("redis", redis.pid()), ("scheduler", std::process::id())];
    let (profile, before, begun) =
        (Profile::begin(&processes)?, process::cpu(std::process::id())?, Instant::now());
    seal(&mut scheduler, hour, users).await?;
    let (took, cpu) = (begun.elapsed(), profile.per_user(users)?);
    let core = process::cpu(std::process::id())?.saturating_sub(before);

    let begun = Instant::now();
    let listed = enumerate(&*ledger, hour).await?;
    let enumerated = begun.elapsed();
    ensure!(listed == users, "the seals list {listed} users, not {users}");
    let bytes = bytes_by_kind(&redis.url(), "*}:seal:*").await?.remove("seal").context("no seal is kept")?;
    Ok(Sealing { core, took, cpu, bytes, enumerated })
}

async fn seal(scheduler: &mut Scheduler, hour: &Hour, users: u64) -> anyhow::Result<()> {
    let mut sealed = 0;
    for _ in 0..SHARDS {
        sealed += scheduler.tick(hour.fires - TimeDelta::minutes(5)).await?.sealed;
        if sealed >= users {
            break;
        }
    }
    ensure!(sealed == users, "{sealed} users were sealed, not {users}");
    Ok(())
}

/// Reads every seal and cuts it into batches; how many users are in those.
async fn enumerate(ledger: &dyn NightLedger, hour: &Hour) -> anyhow::Result<u64> {
    let night = Night { campaign: "nightly".parse()?, day: hour.day };
    let n = NonZeroU32::new(SHARDS).context("no shards")?;
    let mut listed = 0;
    for shard in Shard::all(n) {
        for (key, _) in ledger.seals(&night, shard).await? {
            let seal = ledger.sealed(&key).await?.context("a seal went")?;
            let batches = seal.batches(BATCH);
            listed += batches.iter().map(|(.., users)| users.len() as u64).sum::<u64>();
        }
    }
    Ok(listed)
}
