use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use chrono::{TimeDelta, Utc};

use super::setup::{Homes, Setup};
use crate::{
    daemon::Daemon,
    hour::Hour,
    measure::CpuPerUser,
    ops::{Ops, Sums},
    profile::Profile,
    receiver::Receiver,
};

/// What was measured of a night.
pub(super) struct Night {
    /// From the start of the scheduler until everybody was sealed.
    pub(super) sealing: Duration,
    /// From 22:00:00 until everybody was delivered and booked.
    pub(super) lasted: Duration,
    /// CPU of all processes meanwhile.
    pub(super) cpu: CpuPerUser,
}

const CAMPAIGN: &str = "nightly";
/// The clocks at the start, before the hour: within the time to prepare, long enough to seal.
const AHEAD: TimeDelta = TimeDelta::minutes(5);
/// Where the clocks are moved to once all is sealed, before the hour.
const MOVED: TimeDelta = TimeDelta::seconds(3);
/// How long sealing or pushing may stand still.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at the sums: seldom, because whoever looks costs the night something.
const POLL: Duration = Duration::from_millis(50);
/// The same once the end is near.
const NEAR: Duration = Duration::from_millis(5);

/// Plays the night of `users` users, and fails where its sums are wrong or the receiver got anything else.
pub(super) async fn play(
    setup: &Setup,
    homes: &Homes,
    hour: &Hour,
    users: u64,
    receiver: Option<&Receiver>,
) -> anyhow::Result<Night> {
    let shift = format!("{}ms", (hour.fires - AHEAD - Utc::now()).num_milliseconds());
    let day = hour.day.to_string();
    let started = Instant::now();
    let mut scheduler = homes.scheduler.start(&["scheduler", "run", "--clock-shift", &shift])?;
    let mut sender = homes.sender.start(&["sender", "run", "--clock-shift", &shift])?;
    let ops = Ops::reach(&homes.scheduler, &mut scheduler).await?;
    let sender_ops = Ops::reach(&homes.sender, &mut sender).await?;
    until(&ops, &mut [&mut scheduler, &mut sender], &day, |s| s.due >= users, POLL).await?;
    let sealing = started.elapsed();

    // the clock may stand up to one request ahead of this: the night is measured from the earliest instant
    sender_ops.move_clock(hour.fires - MOVED).await?;
    let fires = Instant::now() + MOVED.to_std()?;
    ops.move_clock(hour.fires - MOVED).await?;
    tokio::time::sleep_until((fires - 5 * POLL).into()).await;
    let sealed = ops.night(CAMPAIGN, &day).await?.unwrap_or_default();
    ensure!(sealed.open == users, "the night began before its hour: {sealed:?}");
    let mut processes = vec![
        ("redis", setup.redis.pid()),
        ("rabbitmq", setup.broker.pid()),
        ("scheduler", scheduler.pid()),
        ("sender", sender.pid()),
    ];
    processes.extend(receiver.map(|receiver| ("receiver", receiver.pid())));
    let profile = Profile::begin(&processes)?;
    if let Some(receiver) = receiver {
        receiver.until(users, PATIENCE, || scheduler.check().and_then(|()| sender.check())).await?;
    }
    // a receiver that has all leaves little to wait for
    let poll = if receiver.is_some() { NEAR } else { POLL };
    let all = |sums: &Sums| sums.due > 0 && sums.open == 0;
    let sums = until(&ops, &mut [&mut scheduler, &mut sender], &day, all, poll).await?;
    let (lasted, cpu) = (fires.elapsed(), profile.per_user(users)?);

    ensure!(sums == Sums::whole(users), "the night of {users} users ended with wrong sums: {sums:?}");
    if let Some(receiver) = receiver {
        let received = receiver.received().await?;
        ensure!(received.pushes == users && received.different == users, "it received {received:?}");
    }
    scheduler.end().await?;
    sender.end().await?;
    Ok(Night { sealing, lasted, cpu })
}

/// Looks at the sums until they are as wanted; fails once they stand still for too long.
async fn until(
    ops: &Ops,
    daemons: &mut [&mut Daemon],
    day: &str,
    wanted: impl Fn(&Sums) -> bool,
    poll: Duration,
) -> anyhow::Result<Sums> {
    let (mut last, mut moved) = (Sums::default(), Instant::now());
    loop {
        daemons.iter_mut().try_for_each(|daemon| daemon.check())?;
        let sums = ops.night(CAMPAIGN, day).await?.unwrap_or_default();
        if wanted(&sums) {
            return Ok(sums);
        }
        if sums != last {
            (last, moved) = (sums, Instant::now());
        }
        if moved.elapsed() > PATIENCE {
            let logs: Vec<_> = daemons.iter().map(|daemon| daemon.last_lines()).collect();
            bail!("the night stood still for {PATIENCE:?} at {last:?}\n{}", logs.join("\n"));
        }
        tokio::time::sleep(poll).await;
    }
}
