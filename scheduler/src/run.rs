use std::time::Duration;

use plumbing::Clock;
use tokio_util::sync::CancellationToken;

use crate::Scheduler;

/// The longest pause between two looks at the clock: a clock that was set is noticed within it.
const LONGEST: Duration = Duration::from_millis(250);

/// Ticks until `stop`, then gives its shards up. A store or broker that is away is waited for; the checkpoint says where to
/// go on.
pub async fn run(mut scheduler: Scheduler, clock: &Clock, stop: CancellationToken) {
    let mut failures = 0u32;
    while !stop.is_cancelled() {
        let pause = match scheduler.tick(clock.now()).await {
            Ok(ticked) => {
                failures = 0;
                ticked.next.map_or(LONGEST, |at| clock.until(at).min(LONGEST))
            }
            Err(error) => {
                scheduler.metrics().failed_ticks.inc();
                failures = failures.saturating_add(1);
                // one that lasts is told at the 1st, 2nd, 4th, 8th ... time
                if failures.is_power_of_two() {
                    tracing::warn!(%error, failures, "the scheduler could not do all of its work and tries again");
                }
                // no longer than ever: the rest of the work goes on, to the second
                LONGEST
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
    give_up(&mut scheduler).await;
}

/// Leaves the shards to the others; who is not told takes them when their term is over.
pub(crate) async fn give_up(scheduler: &mut Scheduler) {
    if let Err(error) = scheduler.leave().await {
        tracing::debug!(%error, "the scheduler could not take its leave; its shards are free when their term is over");
    }
}
