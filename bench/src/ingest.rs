//! Reports over HTTP into Redis: an ingest daemon with its publisher, Redis and RabbitMQ, each a process of its own, against what
//! the same Redis takes of the plainest write there is.

mod bodies;
mod incrby;
pub(crate) mod paced;
mod posting;
mod setup;

pub(crate) use self::setup::{Ingest, Setup};
use self::{bodies::Kind, posting::post};
use crate::{
    bar::Bar,
    figures::{middle, rate},
    registry::{Bench, Run, Running},
};

/// The bench.
pub(crate) const BENCH: Bench = Bench {
    name: "ingest",
    about: "reports by POST /v1/reports, batches of 500 of random users, into Redis: totals, and increments with ids, against \
            INCRBY by redis-benchmark",
    users: 1_000_000,
    memory: 2_000,
    run: |run| -> Running<'_> { Box::pin(ingest(run)) },
};

/// Of the rate of INCRBY, at least.
const TOTALS: f64 = 0.25;
const INCREMENTS: f64 = 0.12;
/// Rounds of ours and of the baseline in turn; the one with the middle ratio is reported.
const ROUNDS: u32 = 3;
/// Reports of a round, of as many users.
const REPORTS: u64 = 300_000;

async fn ingest(run: &mut Run<'_>) -> anyhow::Result<()> {
    let setup = Setup::start(run.program, run.users)?;
    let mut ingest = setup.ingest(&[]).await?;
    let reports = REPORTS.min(run.users);
    for (name, kind, bar) in [("totals", Kind::Totals, TOTALS), ("increments", Kind::Increments, INCREMENTS)]
    {
        // until every user is at hand, as they are after the first minutes of a day
        post(&ingest.url, &setup.key, bodies::of(kind, reports, run.users, 0)).await?;
        let mut rounds = Vec::new();
        for round in 1..=ROUNDS {
            let bodies = bodies::of(kind, reports, run.users, round);
            let profile = setup.profile(&ingest)?;
            let seconds = post(&ingest.url, &setup.key, bodies).await?;
            let (ours, cpu) = (rate(reports, seconds), profile.per_user(reports)?);
            rounds.push((ours, cpu, incrby::baseline(&setup.redis, reports).await?));
        }
        let (ours, cpu, baseline) =
            middle(&format!("{name}, ratios"), rounds, |(ours, _, base)| ours / base)?;
        run.tell_against(name, ours, "reports/s", Some(baseline), cpu, Some(Bar::RatioAtLeast(bar)));
    }
    ingest.daemon.check()?;
    ingest.daemon.end().await
}
