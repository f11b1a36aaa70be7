//! The one-shot night for a crontab: enqueue what is due, send it, drain, end.

use std::{pin::pin, sync::Arc, time::Duration};

use anyhow::{Context, bail};
use config::Config;
use domain::{Instant, Night};
use night_ledger::{Class, Line, Sums};
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
    let whole = work(&program, scheduler, signal()).await?;
    report(&program, &asked, &before, whole).await
}

/// Schedules and sends until all is done, or until `stop`; whether all was done. What is in flight ends in any case.
pub(crate) async fn work(
    program: &Program,
    scheduler: Scheduler,
    stop: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<bool> {
    let no_more = CancellationToken::new();
    let sending = tokio::spawn(sender::run(Arc::clone(&program.parts), no_more.clone()));
    let whole = tokio::select! {
        error = program.ended() => Err(error.into()),
        end = drain(program, scheduler, stop) => end,
    };
    no_more.cancel();
    let longest = longest_drain(&program.config);
    match tokio::time::timeout(longest, sending).await {
        Ok(end) => end?,
        Err(_) => {
            bail!("the sender was still at work after {longest:?}; its batches come again at the next run")
        }
    }
    whole
}

/// Ticks until everything that has fired is published and the queue and its ladder are empty, at the latest until the
/// last deadline, and until everything that was missed is counted; answers whether that is so. It is not where `stop`
/// comes first, which is heard between two ticks: what a tick has published it also records.
async fn drain(
    program: &Program,
    mut scheduler: Scheduler,
    stop: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<bool> {
    let (mut failures, mut pause) = (0, Duration::ZERO);
    let mut last_deadline: Option<Instant> = None;
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            biased;
            end = &mut stop => return end.map(|()| false),
            () = tokio::time::sleep(pause) => {}
        }
        let now = program.clock.now();
        match scheduler.tick(now).await {
            Ok(ticked) => {
                failures = 0;
                last_deadline = last_deadline.max(scheduler.last_deadline());
                let over = last_deadline.is_none_or(|deadline| deadline <= now);
                if !ticked.behind && (over || !ticked.publishing && empty(program).await?) {
                    return Ok(true);
                }
            }
            Err(error) if failures < MOST_FAILURES => {
                failures += 1;
                tracing::warn!(%error, failures, "the scheduler could not do its work and tries again");
            }
            Err(error) => return Err(error.into()),
        }
        pause = PAUSE * (failures + 1);
    }
}

async fn empty(program: &Program) -> anyhow::Result<bool> {
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
    whole: bool,
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
    let result = if !whole {
        "stopped"
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
            json!({ "campaign": asked.campaign, "result": result, "missed": missed, "nights": nights })
        );
    } else {
        nights.iter().for_each(night::print);
        say!("{result}");
    }
    Ok(match result {
        "stopped" | "nobody_reached" => Ending::Failed,
        "missed" => Ending::Missed,
        _ => Ending::Done,
    })
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;
    use crate::testing::Town;

    #[tokio::test]
    async fn a_stop_ends_what_is_in_flight_and_leaves_the_rest_to_the_next_run() {
        let town = Town::new(50, 50).await;
        let program = &town.program;
        // stopped at once: nothing was begun
        assert!(!work(program, program.whole_scheduler(), ready(Ok(()))).await.unwrap());
        assert_eq!(town.sums().await.due, 0);
        // stopped when everybody is sealed
        let sealed = async {
            while program.parts.ledger.sums(&town.night()).await.unwrap().total().due < 50 {
                tokio::task::yield_now().await;
            }
            Ok(())
        };
        work(program, program.whole_scheduler(), sealed).await.unwrap();
        let between = town.sums().await;
        assert_eq!(between.delivered + between.open, 50);
        // not stopped
        assert!(work(program, program.whole_scheduler(), pending()).await.unwrap());
        let after = town.sums().await;
        assert_eq!((after.delivered, after.open, after.duplicates), (50, 0, 0));
    }
}
