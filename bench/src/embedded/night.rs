use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use chrono::{TimeDelta, Utc};
use serde_json::Value;

use crate::{
    daemon::Daemon,
    hour::Hour,
    measure::CpuPerUser,
    ops::{Ops, Sums},
    process,
    profile::Profile,
    program::Home,
};

/// What was measured of a night.
pub(super) struct Night {
    /// From the start of the program until everybody was sealed.
    pub(super) sealing: Duration,
    /// From 22:00:00 until everybody was delivered.
    pub(super) lasted: Duration,
    /// CPU of the process meanwhile.
    pub(super) cpu: CpuPerUser,
    /// The most memory the process ever held, in bytes.
    pub(super) memory: u64,
    /// Bytes it wrote to the disk during the night.
    pub(super) written: u64,
}

const CAMPAIGN: &str = "nightly";
/// The program's clock at its start, before the hour: within the time to prepare, long enough to seal.
const AHEAD: TimeDelta = TimeDelta::minutes(5);
/// Where the clock is moved to once all is sealed, before the hour.
const MOVED: TimeDelta = TimeDelta::seconds(3);
/// How long sealing or pushing may stand still.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at the sums.
const POLL: Duration = Duration::from_millis(20);

/// Plays the night of `users` users with the program in `home`, and fails where its sums are wrong.
pub(super) async fn night(home: &Home, hour: &Hour, users: u64) -> anyhow::Result<Night> {
    let shift = hour.fires - AHEAD - Utc::now();
    let shift = format!("{}ms", shift.num_milliseconds());
    let started = Instant::now();
    let mut daemon = home.start(&["run", "--clock-shift", &shift])?;
    let ops = Ops::reach(home, &mut daemon).await?;
    let day = hour.day.to_string();
    until(&ops, &mut daemon, &day, Duration::from_millis(2), |s| s.due >= users).await?;
    let sealing = started.elapsed();

    // the clock may stand up to one request ahead of this: the night is measured from the earliest instant
    let fires = Instant::now() + MOVED.to_std()?;
    ops.move_clock(hour.fires - MOVED).await?;
    tokio::time::sleep_until((fires - 5 * POLL).into()).await;
    let sealed = ops.night(CAMPAIGN, &day).await?.unwrap_or_default();
    ensure!(sealed.open == users, "the night began before its hour: {sealed:?}");
    let (pid, before) = (daemon.pid(), process::written(daemon.pid())?);
    let profile = Profile::begin(&[("stepcast", pid)])?;
    tokio::time::sleep_until(fires.into()).await;
    let sums = until(&ops, &mut daemon, &day, POLL, |s| s.due > 0 && s.open == 0).await?;
    let lasted = fires.elapsed();
    let (cpu, written) = (profile.per_user(users)?, process::written(pid)?.saturating_sub(before));

    ensure!(sums == Sums::whole(users), "the night of {users} users ended with wrong sums: {sums:?}");
    recount(home, &day, users)?;
    let memory = process::peak_memory(pid)?;
    daemon.end().await?;
    Ok(Night { sealing, lasted, cpu, memory, written })
}

/// Looks at the sums until they are as wanted; fails once they stand still for too long.
async fn until(
    ops: &Ops,
    daemon: &mut Daemon,
    day: &str,
    poll: Duration,
    wanted: impl Fn(&Sums) -> bool,
) -> anyhow::Result<Sums> {
    let (mut last, mut moved) = (Sums::default(), Instant::now());
    loop {
        daemon.check()?;
        let sums = ops.night(CAMPAIGN, day).await?.unwrap_or_default();
        if wanted(&sums) {
            return Ok(sums);
        }
        if sums != last {
            (last, moved) = (sums, Instant::now());
        }
        if moved.elapsed() > PATIENCE {
            bail!("the night stood still for {PATIENCE:?} at {last:?}\n{}", daemon.last_lines());
        }
        tokio::time::sleep(poll).await;
    }
}

/// Has the program count again from the claims, and looks at both.
fn recount(home: &Home, day: &str, users: u64) -> anyhow::Result<()> {
    let told = home.ask(&["night", "show", "--campaign", CAMPAIGN, "--day", day, "--recount", "--json"])?;
    let sums = |value: &Value| serde_json::from_value::<Sums>(value.clone());
    let (kept, counted) = (sums(&told)?, sums(&told["recount"]["counted"])?);
    let agrees = told["recount"]["agrees"] == true && kept == counted && kept == Sums::whole(users);
    ensure!(agrees, "the recount disagrees: {kept:?} were kept, {counted:?} counted");
    Ok(())
}
