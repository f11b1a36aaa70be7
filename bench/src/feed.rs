//! The change feed beside the reports: how far a copy is behind, and what the publisher costs those who report.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use chrono::TimeDelta;
use job_queue::{AmqpSettings, Feed, RabbitFeed};
use ranker::{Column, Status, follow};
use tokio_util::sync::CancellationToken;

use crate::{
    bar::Bar,
    figures::middle,
    ingest::{
        Ingest, Setup,
        paced::{Pace, Slowest},
    },
    measure::CpuPerUser,
    registry::{Bench, Run, Running},
    servers::Durability,
    stores,
};

/// The bench.
pub(crate) const BENCH: Bench = Bench {
    name: "feed",
    about: "how far a copy is behind at a steady pace of reports and at a flood, and the slowest of a hundred reports with the publisher \
            against the same without",
    users: 1_000_000,
    memory: 2_500,
    run: |run| -> Running<'_> { Box::pin(feed(run)) },
};

/// Seconds that the copy may be behind, and times as slow as reports may be for the publisher's sake.
const LAG: f64 = 2.0;
const RATIO: f64 = 1.25;
const ROUNDS: u64 = 5;
/// Batches of 500 a second: about half of what two cores bear with the client on them, and more than they do.
const STEADY: u32 = 20;
const FLOOD: u32 = 80;
const LASTING: Duration = Duration::from_secs(20);
/// Between two looks at the copy.
const LOOK: Duration = Duration::from_millis(50);
/// How long the copy may take to have everything after a flood.
const CATCH_UP: Duration = Duration::from_secs(60);

async fn feed(run: &mut Run<'_>) -> anyhow::Result<()> {
    let setup = Setup::start(run.program, run.users)?;
    let ingest = setup.ingest(&[]).await?;
    let (column, stop) = copy(&setup)?;
    current(&column).await?;
    let (mut rounds, mut lags) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let without = without_publisher(&setup, pace(run.users, STEADY, round * 2 - 1), &ingest).await?;
        current(&column).await?;
        let (with, lag) = looked(&column, pace(run.users, STEADY, round * 2), &ingest, &setup.key).await?;
        lags.extend(lag);
        rounds.push((with.posts, without.posts));
    }
    run.tell("lag_p99", p99(&mut lags)?, "s", CpuPerUser::new(), Some(Bar::AtMost(LAG)));
    let (with, without) = middle("posts_p99, ratios", rounds, |(with, without)| with / without)?;
    run.tell_against(
        "posts_p99",
        with,
        "ms",
        Some(without),
        CpuPerUser::new(),
        Some(Bar::RatioAtMost(RATIO)),
    );
    let flood = pace(run.users, FLOOD, ROUNDS * 2 + 1);
    let (_, mut lags) = looked(&column, flood, &ingest, &setup.key).await?;
    run.tell("flood_lag_p99", p99(&mut lags)?, "s", CpuPerUser::new(), None);
    let begun = Instant::now();
    current(&column).await?;
    run.tell("flood_caught_up", begun.elapsed().as_secs_f64(), "s", CpuPerUser::new(), None);
    stop.cancel();
    ingest.daemon.end().await
}

fn pace(users: u64, batches: u32, round: u64) -> Pace {
    // a total has to rise with each round
    let round = round % 19 + 1;
    Pace { batches, items: 500, reads: 1, lasting: LASTING, users, ahead: TimeDelta::zero(), round }
}

/// A copy in this process.
fn copy(setup: &Setup) -> anyhow::Result<(Arc<Column>, CancellationToken)> {
    let steps = stores::steps(&setup.redis, Durability::Wal)?;
    let feed: Arc<dyn Feed> = Arc::new(RabbitFeed::open(&AmqpSettings::at(setup.broker.url(), "stepcast"))?);
    let (column, stop) = (Arc::<Column>::default(), CancellationToken::new());
    tokio::spawn(follow(Arc::clone(&column), steps, feed, stop.clone()));
    Ok((column, stop))
}

/// A load, and how far the copy was behind at each look, in seconds.
async fn looked(
    column: &Arc<Column>,
    pace: Pace,
    ingest: &Ingest,
    key: &str,
) -> anyhow::Result<(Slowest, Vec<f64>)> {
    let looking = tokio::spawn({
        let column = Arc::clone(column);
        async move {
            let (mut lags, mut behind) = (Vec::new(), None::<Instant>);
            let mut pause = tokio::time::interval(LOOK);
            loop {
                pause.tick().await;
                behind = match column.status() {
                    Status::Current => None,
                    Status::Behind { .. } => behind.or(Some(Instant::now())),
                };
                // one that says it is behind is so for two seconds at least
                let lag = behind.map_or(column.lag(), |since| Some(since.elapsed() + Duration::from_secs(2)));
                lags.push(lag.unwrap_or_default().as_secs_f64());
                if lags.len() >= usize::try_from(LASTING.as_millis() / LOOK.as_millis()).unwrap_or(usize::MAX)
                {
                    return lags;
                }
            }
        }
    });
    let slowest = pace.send(ingest, key).await?;
    Ok((slowest, looking.await.context("the looks ended")?))
}

/// The same load while this process holds the lease on posting, so that nobody posts.
async fn without_publisher(setup: &Setup, pace: Pace, ingest: &Ingest) -> anyhow::Result<Slowest> {
    let mut connection = redis::Client::open(setup.redis.url())?.get_multiplexed_async_connection().await?;
    let lease = "stepcast:main:{s.0}:feed_lease";
    let term = (LASTING + Duration::from_secs(5)).as_millis();
    let mut set = redis::cmd("SET");
    set.arg(lease)
        .arg("bench")
        .arg("PX")
        .arg(u64::try_from(term)?)
        .query_async::<()>(&mut connection)
        .await?;
    let slowest = pace.send(ingest, &setup.key).await?;
    redis::cmd("DEL").arg(lease).query_async::<()>(&mut connection).await?;
    Ok(slowest)
}

async fn current(column: &Column) -> anyhow::Result<()> {
    let begun = Instant::now();
    while column.status() != Status::Current {
        ensure!(begun.elapsed() < CATCH_UP, "the copy does not catch up");
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

fn p99(lags: &mut [f64]) -> anyhow::Result<f64> {
    lags.sort_unstable_by(f64::total_cmp);
    lags.get(lags.len() * 99 / 100).copied().context("no lags")
}
