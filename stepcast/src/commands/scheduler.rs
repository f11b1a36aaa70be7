//! The one-shot scheduler for a crontab, over shared stores: senders of other processes do the rest.

use config::Config;
use scheduler::Once;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::run::{clock, refuse_embedded, signal};
use crate::{cli::SchedulerOnce, endings::Ending, logs, program::Program, say::say};

/// `stepcast scheduler once`: what has fired in any zone and is inside its deadline is sealed and published to the end of
/// its window, and what was missed is counted.
pub(super) async fn once(config: Config, asked: SchedulerOnce) -> anyhow::Result<Ending> {
    refuse_embedded(&config, "scheduler once")?;
    logs::start(&config.log)?;
    config.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    let clock = clock(&config, &asked.clock)?;
    let program = Program::begin(config, clock).await?;
    program.warn_if_empty().await?;
    let stop = CancellationToken::new();
    let mut work = Box::pin(scheduler::once(program.whole_scheduler(), &program.clock, stop.clone()));
    let once = tokio::select! {
        once = &mut work => once?,
        end = signal() => {
            end?;
            stop.cancel();
            // what a tick has published it also records
            work.await?
        }
    };
    let (result, ending) = ended(&once);
    if asked.json {
        say!(
            "{}",
            json!({
                "result": result,
                "sealed": once.sealed,
                "published": once.published,
                "missed": once.closed.missed,
                "closed": once.closed,
            })
        );
    } else {
        say!(
            "{result}: {} users sealed, {} batches published, {} users missed",
            once.sealed,
            once.published,
            once.closed.missed
        );
    }
    Ok(ending)
}

fn ended(once: &Once) -> (&'static str, Ending) {
    if !once.whole {
        ("stopped", Ending::Failed)
    } else if once.missed() {
        ("missed", Ending::Missed)
    } else if once.sealed + once.published > 0 {
        ("done", Ending::Done)
    } else {
        ("nothing_due", Ending::Done)
    }
}

#[cfg(test)]
mod tests {
    use night_ledger::ClosedOpen;

    use super::*;

    #[test]
    fn each_end_has_its_code() {
        let once = |sealed, missed, whole| Once {
            sealed,
            published: sealed,
            closed: ClosedOpen { missed, ..ClosedOpen::default() },
            whole,
        };
        for (once, result, ending) in [
            (once(0, 0, true), "nothing_due", Ending::Done),
            (once(5, 0, true), "done", Ending::Done),
            (once(5, 2, true), "missed", Ending::Missed),
            (once(0, 2, true), "missed", Ending::Missed),
            (once(5, 0, false), "stopped", Ending::Failed),
        ] {
            assert_eq!(ended(&once), (result, ending));
        }
    }
}
