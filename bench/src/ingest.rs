//! Reports over HTTP into Redis: an ingest daemon with its publisher, Redis and RabbitMQ, each a process of its own, against what
//! the same Redis takes of the plainest write there is.

mod bodies;
mod incrby;
mod posting;

use anyhow::{Context, ensure};

use self::{bodies::Kind, posting::post};
use crate::{
    bar::Bar,
    figures::{middle, rate},
    people,
    profile::Profile,
    program::Home,
    registry::{Bench, Run, Running},
    servers::{Durability, RabbitMq, Redis},
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
    let folder = crate::program::folder(run.program)?;
    let (redis, broker) = (Redis::start(folder.path(), Durability::Wal)?, RabbitMq::start(folder.path())?);
    let config = format!(
        "rehearsal = true\n\n[ops]\nlisten = \"127.0.0.1:0\"\n\n\
         [ingest]\nlisten = \"127.0.0.1:0\"\nkey_items_per_second = 10_000_000\n\n\
         [stores]\nkind = \"redis\"\nurls = [\"{}\"]\n\n[queue]\nkind = \"rabbitmq\"\nurl = \"{}\"\n",
        redis.url(),
        broker.url()
    );
    let home = Home::make(run.program, &config)?;
    let file = home.path("users.csv");
    people::write_users(&file, run.users, &["UTC".parse()?], "stub")?;
    let told = home.ask(&["import", "users", &file.to_string_lossy(), "--json"])?;
    ensure!(told["counts"]["created"] == run.users, "import users: {told}");
    let key = home.ask(&["key", "add", "--scope", "reports", "--json"])?;
    let key = key["key"].as_str().context("a key")?.to_owned();
    let mut daemon = home.start(&["ingest", "run"])?;
    let address = posting::ready(&home, &mut daemon).await?;
    let reports = REPORTS.min(run.users);
    for (name, kind, bar) in [("totals", Kind::Totals, TOTALS), ("increments", Kind::Increments, INCREMENTS)]
    {
        // until every user is at hand, as they are after the first minutes of a day
        post(&address, &key, bodies::of(kind, reports, run.users, 0)).await?;
        let mut rounds = Vec::new();
        for round in 1..=ROUNDS {
            let bodies = bodies::of(kind, reports, run.users, round);
            let profile = Profile::begin(&[
                ("ingest", daemon.pid()),
                ("redis", redis.pid()),
                ("rabbitmq", broker.pid()),
                ("client", std::process::id()),
            ])?;
            let seconds = post(&address, &key, bodies).await?;
            let (ours, cpu) = (rate(reports, seconds), profile.per_user(reports)?);
            rounds.push((ours, cpu, incrby::baseline(&redis, reports).await?));
        }
        let (ours, cpu, baseline) =
            middle(&format!("{name}, ratios"), rounds, |(ours, _, base)| ours / base)?;
        run.tell_against(name, ours, "reports/s", Some(baseline), cpu, Some(Bar::RatioAtLeast(bar)));
    }
    daemon.check()?;
    daemon.end().await
}
