use std::time::{Duration, Instant as RealInstant};

use night_ledger::{ClosedOpen, StoreError};
use plumbing::Clock;
use tokio_util::sync::CancellationToken;

use crate::{Scheduler, run::give_up};

/// What one run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Once {
    /// Users sealed.
    pub sealed: u64,
    /// Batches published and confirmed.
    pub published: u64,
    /// What was closed.
    pub closed: ClosedOpen,
    /// Whether all was done; not where it was stopped.
    pub whole: bool,
}

impl Once {
    /// Whether something was found to be too late to be pushed.
    pub fn missed(&self) -> bool {
        self.closed.missed > 0
    }
}

/// Failed ticks in a row after which the run gives up.
const MOST_FAILURES: u32 = 30;
/// The longest pause between two ticks.
const PAUSE: Duration = Duration::from_millis(50);

/// For a system's cron: ticks until everything that has fired and is inside its deadline is sealed, published and confirmed,
/// waiting out the window, and what was missed is counted; then gives its shards up. What is ahead is the next run's. Shards of
/// other schedulers that live are left to them, and taken over where one dies meanwhile. Nights older than 14 days are
/// forgotten at the end; dead letters are left to the schedulers that stay.
///
/// # Errors
/// The error of the last of 30 failed ticks in a row.
pub async fn once(
    mut scheduler: Scheduler,
    clock: &Clock,
    stop: CancellationToken,
) -> Result<Once, StoreError> {
    scheduler.only_what_fired();
    let end = until_done(&mut scheduler, clock, &stop).await;
    if end.as_ref().is_ok_and(|once| once.whole) {
        let forgetting = scheduler.forget_nights(clock.now());
        if let Some(Err(error)) = stop.run_until_cancelled(forgetting).await {
            tracing::warn!(%error, "old nights could not be forgotten: the next run tries again");
        }
    }
    give_up(&mut scheduler).await;
    end
}

async fn until_done(
    scheduler: &mut Scheduler,
    clock: &Clock,
    stop: &CancellationToken,
) -> Result<Once, StoreError> {
    let (began, mut once, mut failures) = (RealInstant::now(), Once::default(), 0);
    while !stop.is_cancelled() {
        let pause = match scheduler.tick(clock.now()).await {
            Ok(ticked) => {
                failures = 0;
                once.sealed += ticked.sealed;
                once.published += ticked.published;
                once.closed.missed += ticked.closed.missed;
                once.closed.never_worked += ticked.closed.never_worked;
                once.closed.expired += ticked.closed.expired;
                once.closed.uncertain += ticked.closed.uncertain;
                if !ticked.behind && !ticked.publishing && scheduler.has_its_own(began.elapsed()) {
                    once.whole = true;
                    break;
                }
                ticked.next.map_or(PAUSE, |at| clock.until(at).min(PAUSE))
            }
            Err(error) => {
                scheduler.metrics().failed_ticks.inc();
                failures += 1;
                if failures >= MOST_FAILURES {
                    return Err(error);
                }
                tracing::warn!(%error, failures, "the scheduler could not do its work and tries again");
                PAUSE * failures
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
    Ok(once)
}
