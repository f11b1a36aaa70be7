//! The one-shot night for a crontab: enqueue what is due, send it, drain, end.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use config::Config;
use domain::{Instant, Night};
use night_ledger::{Class, Sums};
use plumbing::Span;
use scheduler::{Scheduler, Settings};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{night, run::clock};
use crate::{cli::NightRun, endings::Ending, logs, ops::report, program::Program, say::say};

/// Failed ticks in a row after which the run gives up.
const MOST_FAILURES: u32 = 30;
/// The longest pause between two looks at the queue.
const PAUSE: Duration = Duration::from_millis(50);

/// `stepcast night run --campaign C`
pub(super) async fn run(config: Config, asked: NightRun) -> anyhow::Result<Ending> {
    logs::start(&config.log)?;
    let campaign =
        config.campaigns.iter().find(|c| c.campaign.name == asked.campaign).map(|c| c.campaign.clone());
    let campaign = campaign.with_context(|| format!("--campaign: {} is not configured", asked.campaign))?;
    let clock = clock(&config, &asked.clock)?;
    let program = Program::open(config, clock).await?;
    // only what has fired: what is ahead is the next run's
    let settings = Settings { prepare_ahead: Span::seconds(0), ..program.config.scheduler.clone() };
    let scheduler = program.scheduler(vec![campaign], settings);
    let before = sums(&program, &asked).await?;
    let stop = CancellationToken::new();
    let sending = tokio::spawn(sender::run(Arc::clone(&program.parts), stop.clone()));
    let drained = drain(&program, scheduler).await;
    stop.cancel();
    sending.await?;
    drained?;
    report(&program, &asked, &before).await
}

/// Ticks until everything that has fired is published and the queue and its ladder are empty, at the latest until the
/// last deadline.
async fn drain(program: &Program, mut scheduler: Scheduler) -> anyhow::Result<()> {
    let mut failures = 0;
    let mut last_deadline: Option<Instant> = None;
    loop {
        let now = program.clock.now();
        match scheduler.tick(now).await {
            Ok(ticked) => {
                failures = 0;
                last_deadline = last_deadline.max(scheduler.last_deadline());
                let over = last_deadline.is_none_or(|deadline| deadline <= now);
                if (!ticked.publishing && empty(program).await?) || over {
                    return Ok(());
                }
            }
            Err(error) if failures < MOST_FAILURES => {
                failures += 1;
                tracing::warn!(%error, failures, "the scheduler could not do its work and tries again");
            }
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(PAUSE * (failures + 1)).await;
    }
}

async fn empty(program: &Program) -> anyhow::Result<bool> {
    for channel in program.parts.lines.keys() {
        let depth = program.parts.queue.depth(channel).await?;
        if depth.ready + depth.unacked + depth.delayed > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn sums(program: &Program, asked: &NightRun) -> anyhow::Result<Vec<(Night, Sums)>> {
    let mut all = Vec::new();
    for night in program.parts.ledger.nights().await?.into_iter().filter(|n| n.campaign == asked.campaign) {
        let sums = program.parts.ledger.sums(&night).await?;
        all.push((night, sums));
    }
    Ok(all)
}

/// Tells of the nights that this run changed.
async fn report(program: &Program, asked: &NightRun, before: &[(Night, Sums)]) -> anyhow::Result<Ending> {
    let changed: Vec<_> =
        sums(program, asked).await?.into_iter().filter(|after| !before.contains(after)).collect();
    let missed = |sums: &Sums| sums.total().class(Class::Missed);
    let known = |night: &Night| before.iter().find(|(n, _)| n == night).map_or(0, |(_, sums)| missed(sums));
    let missed: u64 = changed.iter().map(|(night, sums)| missed(sums).saturating_sub(known(night))).sum();
    let due = changed.iter().any(|(_, sums)| sums.total().due > 0);
    let result = if missed > 0 {
        "missed"
    } else if due {
        "done"
    } else {
        "nothing_due"
    };
    let nights: Vec<_> = changed.iter().map(|(n, sums)| report::night(n, sums, None)).collect();
    if asked.json {
        say!(
            "{}",
            json!({ "campaign": asked.campaign, "result": result, "missed": missed, "nights": nights })
        );
    } else {
        nights.iter().for_each(night::print);
        say!("{result}");
    }
    Ok(if missed > 0 { Ending::Missed } else { Ending::Done })
}
