//! The half minutes each side of midnight against those around 15:00, and what is written to the step store's keys although nobody
//! reports.

mod writes;

use std::time::Duration;

use anyhow::Context;
use chrono::{DateTime, TimeDelta, Utc};

use self::writes::writes_for;
use crate::{
    bar::Bar,
    figures::middle,
    ingest::{
        Setup,
        paced::{Pace, Slowest},
    },
    measure::CpuPerUser,
    registry::{Bench, Run, Running},
};

/// The bench.
pub(crate) const BENCH: Bench = Bench {
    name: "midnight",
    about: "the slowest of a hundred reports and reads in the half minutes each side of midnight against those at 15:00, the middle \
            of five; writes on step keys over a midnight without reports",
    users: 1_000_000,
    memory: 2_000,
    run: |run| -> Running<'_> { Box::pin(midnight(run)) },
};

/// Of the same at 15:00, at most.
const RATIO: f64 = 1.25;
const ROUNDS: u64 = 5;
/// Each side of the hour.
const SIDE: TimeDelta = TimeDelta::seconds(30);
/// From the start of a daemon until it is measured.
const AHEAD: TimeDelta = TimeDelta::seconds(8);

async fn midnight(run: &mut Run<'_>) -> anyhow::Result<()> {
    let setup = Setup::start(run.program, run.users)?;
    let days = Utc::now().date_naive() + chrono::Days::new(2);
    let mut rounds = Vec::new();
    for round in 1..=ROUNDS {
        // another day each, so that midnight is always the first of its own
        let day = days + chrono::Days::new(round * 2);
        let afternoon = day.and_hms_opt(15, 0, 0).context("an hour")?.and_utc();
        let control = around(&setup, run.users, afternoon, round * 2 - 1).await?;
        let next = (day + chrono::Days::new(1)).and_hms_opt(0, 0, 0).context("an hour")?.and_utc();
        rounds.push((around(&setup, run.users, next, round * 2).await?, control));
    }
    for (name, of) in
        [("posts_p99", (|s: &Slowest| s.posts) as fn(&Slowest) -> f64), ("reads_p99", |s| s.reads)]
    {
        let figures = rounds.iter().map(|(midnight, control)| (of(midnight), of(control))).collect();
        let (ours, control) = middle(&format!("{name}, ratios"), figures, |(ours, control)| ours / control)?;
        run.tell_against(name, ours, "ms", Some(control), CpuPerUser::new(), Some(Bar::RatioAtMost(RATIO)));
    }
    let idle = (days + chrono::Days::new(ROUNDS * 2 + 3)).and_hms_opt(0, 0, 0).context("an hour")?.and_utc();
    let (shift, _) = shift(idle - TimeDelta::seconds(10));
    let ingest = setup.ingest(&["--clock-shift", &shift]).await?;
    let writes = writes_for(&setup.redis, Duration::from_secs(25)).await?;
    run.tell("writes", writes, "commands", CpuPerUser::new(), Some(Bar::AtMost(0.0)));
    ingest.daemon.end().await
}

/// Half a minute each side of an hour, by a daemon whose clock is set for it.
async fn around(setup: &Setup, users: u64, hour: DateTime<Utc>, round: u64) -> anyhow::Result<Slowest> {
    let (shift, ahead) = shift(hour - SIDE - AHEAD);
    let ingest = setup.ingest(&["--clock-shift", &shift]).await?;
    let wait = hour - SIDE - (Utc::now() + ahead);
    tokio::time::sleep(wait.to_std().unwrap_or_default()).await;
    let lasting = (SIDE * 2).to_std()?;
    let pace = Pace { batches: 10, items: 500, reads: 50, lasting, users, ahead, round };
    let slowest = pace.send(&ingest, &setup.key).await?;
    ingest.daemon.end().await?;
    Ok(slowest)
}

/// By how much a clock is set off that is to show `at` now.
fn shift(at: DateTime<Utc>) -> (String, TimeDelta) {
    let ahead = TimeDelta::seconds((at - Utc::now()).num_seconds());
    (format!("{}s", ahead.num_seconds()), ahead)
}
