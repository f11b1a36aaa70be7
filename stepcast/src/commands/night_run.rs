//! The one-shot night for a crontab: enqueue what is due, send it, drain, end.

mod left;
#[cfg(test)]
mod tests;

use std::{pin::pin, sync::Arc, time::Duration};

use anyhow::{Context, bail};
use config::Config;
use domain::{Instant, Night};
use left::Left;
use night_ledger::{Class, Line, StoreError, Sums};
use plumbing::Span;
use scheduler::{Scheduler, Settings};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    night,
    run::{clock, longest_drain, signal},
};
use crate::{cli::NightRun, endings::Ending, logs, ops::report, program::Program, say::say};

/// Failed ticks in a row after which the run gives up.
const MOST_FAILURES: u32 = 30;
/// The longest pause between two looks at the queue.
const PAUSE: Duration = Duration::from_millis(50);

/// How the work ended.
struct Worked {
    /// Whether all was done that could be. It is not where the run was stopped.
    whole: bool,
    /// Users of the campaigns whose hour had come and who are neither delivered nor closed.
    open: u64,
}

/// `stepcast night run --campaign C`
pub(super) async fn run(config: Config, asked: NightRun) -> anyhow::Result<Ending> {
    logs::start(&config.log)?;
    let campaign =
        config.campaigns.iter().find(|c| c.campaign.name == asked.campaign).map(|c| c.campaign.clone());
    let campaign = campaign.with_context(|| format!("--campaign: {} is not configured", asked.campaign))?;
    let clock = clock(&config, &asked.clock)?;
    let program = Program::begin(config, clock).await?;
    program.warn_if_empty().await?;
    // only what has fired: what is ahead is the next run's
    let settings = Settings { prepare_ahead: Span::seconds(0), ..program.config.scheduler.clone() };
    let scheduler = program.scheduler(vec![campaign], settings);
    let before = sums(&program, &asked).await?;
    let left = Left::of(&*program.parts.ledger, program.config.scheduler.shards, [asked.campaign.clone()]);
    let worked = work_on(&program, scheduler, left, signal()).await?;
    report(&program, &asked, &before, worked).await
}

/// Works on all campaigns; whether all was done and nobody is left.
#[cfg(test)]
pub(crate) async fn work(
    program: &Program,
    scheduler: Scheduler,
    stop: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<bool> {
    let campaigns = program.config.campaigns.iter().map(|c| c.campaign.name.clone());
    let left = Left::of(&*program.parts.ledger, program.config.scheduler.shards, campaigns);
    work_on(program, scheduler, left, stop).await.map(|worked| worked.whole && worked.open == 0)
}

/// Schedules and sends until all is done, or until `stop`. What is in flight ends in any case.
async fn work_on(
    program: &Program,
    scheduler: Scheduler,
    mut left: Left<'_>,
    stop: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<Worked> {
    let (no_more, over) = (CancellationToken::new(), CancellationToken::new());
    // the stores are looked after until the last push is recorded
    let _over = over.clone().drop_guard();
    if let Some(lookout) = program.lookout.clone() {
        tokio::spawn(async move { lookout.watch(over).await });
    }
    let sending = tokio::spawn(sender::run(Arc::clone(&program.parts), no_more.clone()));
    let drained = tokio::select! {
        error = program.ended() => Err(error.into()),
        end = drain(program, scheduler, &mut left, stop) => end,
    };
    no_more.cancel();
    let longest = longest_drain(&program.config);
    match tokio::time::timeout(longest, sending).await {
        Ok(end) => end?,
        Err(_) => {
            bail!("the sender was still at work after {longest:?}; its batches come again at the next run")
        }
    }
    let (whole, at) = drained?;
    // by the ledger as it is once nothing is in flight any more
    Ok(Worked { whole, open: left.users(at).await? })
}

/// Ticks until everything that has fired is published, the queue and its ladder are empty and by the ledger nobody is left,
/// at the latest until the last deadline, and until everything that was missed is counted; answers whether that is so,
/// and when it last looked. It is not so where `stop` comes first, which is heard between two ticks: what a tick has
/// published it also records.
async fn drain(
    program: &Program,
    mut scheduler: Scheduler,
    left: &mut Left<'_>,
    stop: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<(bool, Instant)> {
    let (mut failures, mut pause) = (0, Duration::ZERO);
    let mut last_deadline: Option<Instant> = None;
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            biased;
            end = &mut stop => return end.map(|()| (false, program.clock.now())),
            () = tokio::time::sleep(pause) => {}
        }
        let now = program.clock.now();
        match drained(program, &mut scheduler, left, &mut last_deadline, now).await {
            Ok(true) => return Ok((true, now)),
            Ok(false) => failures = 0,
            Err(error) if failures < MOST_FAILURES => {
                failures += 1;
                tracing::warn!(%error, failures, "the night could not be worked on and is tried again");
            }
            Err(error) => return Err(error.into()),
        }
        pause = PAUSE * (failures + 1);
    }
}

/// One tick, and whether nothing is left to be done after it.
async fn drained(
    program: &Program,
    scheduler: &mut Scheduler,
    left: &mut Left<'_>,
    last_deadline: &mut Option<Instant>,
    now: Instant,
) -> Result<bool, StoreError> {
    let ticked = scheduler.tick(now).await?;
    *last_deadline = (*last_deadline).max(scheduler.last_deadline());
    let over = last_deadline.is_none_or(|deadline| deadline <= now);
    // the ledger last: a queue need not know what is being worked, and another scheduler may have published
    Ok(!ticked.behind && (over || !ticked.publishing && empty(program).await?) && !left.in_time(now).await?)
}

/// Whether nothing is in the queue or its ladder, as far as the queue can tell.
async fn empty(program: &Program) -> Result<bool, StoreError> {
    for channel in program.parts.lines.keys() {
        let depth = program.parts.queue.depth(channel).await?;
        if depth.ready + depth.unacked.unwrap_or(0) + depth.delayed > 0 {
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

/// Users who were to get a push and did not, by no wish of theirs.
fn unreached(line: &Line) -> u64 {
    [Class::Expired, Class::Rejected, Class::Dead, Class::Uncertain]
        .map(|class| line.class(class))
        .iter()
        .sum()
}

/// Tells of the nights that this run changed.
async fn report(
    program: &Program,
    asked: &NightRun,
    before: &[(Night, Sums)],
    worked: Worked,
) -> anyhow::Result<Ending> {
    let changed: Vec<_> =
        sums(program, asked).await?.into_iter().filter(|after| !before.contains(after)).collect();
    let missed = |sums: &Sums| sums.total().class(Class::Missed);
    let known = |night: &Night| before.iter().find(|(n, _)| n == night).map_or(0, |(_, sums)| missed(sums));
    let missed: u64 = changed.iter().map(|(night, sums)| missed(sums).saturating_sub(known(night))).sum();
    let due = changed.iter().any(|(_, sums)| sums.total().due > 0);
    let delivered =
        |nights: &[(Night, Sums)]| nights.iter().map(|(_, sums)| sums.total().delivered).sum::<u64>();
    let lost =
        |nights: &[(Night, Sums)]| nights.iter().map(|(_, sums)| unreached(&sums.total())).sum::<u64>();
    let old: Vec<_> = before.iter().filter(|(n, _)| changed.iter().any(|(m, _)| n == m)).cloned().collect();
    let nobody = delivered(&changed) == delivered(&old) && lost(&changed) > lost(&old);
    let result = if !worked.whole {
        "stopped"
    } else if worked.open > 0 {
        tracing::error!(
            users = worked.open,
            "the hour of users has come who are neither delivered nor closed"
        );
        "open"
    } else if missed > 0 {
        "missed"
    } else if nobody {
        "nobody_reached"
    } else if due {
        "done"
    } else {
        "nothing_due"
    };
    let nights: Vec<_> = changed.iter().map(|(n, sums)| report::night(n, sums, None)).collect();
    if asked.json {
        say!(
            "{}",
            json!({
                "campaign": asked.campaign,
                "result": result,
                "missed": missed,
                "open": worked.open,
                "nights": nights,
            })
        );
    } else {
        nights.iter().for_each(night::print);
        say!("{result}");
    }
    Ok(match result {
        "stopped" | "open" | "nobody_reached" => Ending::Failed,
        "missed" => Ending::Missed,
        _ => Ending::Done,
    })
}
