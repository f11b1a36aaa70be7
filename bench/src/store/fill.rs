use std::{sync::Arc, time::Instant};

use anyhow::ensure;
use domain::{Day, Uid};
use futures_util::{StreamExt, TryStreamExt, stream};
use step_store::{Amount, Report, ReportId, Reported, Source, StepStore};

/// Reports of a call.
const CALL: u64 = 500;
/// Calls under way.
const AT_ONCE: usize = 16;

/// A total of a phone and one of a watch for each user, in calls for users of no order; seconds.
pub(super) async fn two_sources(store: &Arc<dyn StepStore>, users: u64, day: Day) -> anyhow::Result<f64> {
    let (phone, watch): (Source, Source) = ("phone".parse()?, "watch".parse()?);
    give(store, 2 * users, |n| {
        let (source, steps) =
            if n < users { (&phone, n * 7_919 % 19_000) } else { (&watch, n * 104_729 % 19_000) };
        report(mixed(n % users, users), day, source, Amount::Total(u32::try_from(steps).unwrap_or(0)))
    })
    .await
}

/// Ten increments with ids of each of so many users that they are `count`; seconds.
pub(super) async fn increments(store: &Arc<dyn StepStore>, count: u64, day: Day) -> anyhow::Result<f64> {
    let source: Source = "band".parse()?;
    let users = count / 10;
    give(store, count, |n| {
        let one = report(mixed(n % users, users), day, &source, Amount::Add(10));
        Report { id: ReportId::of(&source, &n.to_string()).ok(), ..one }
    })
    .await
}

async fn give(store: &Arc<dyn StepStore>, count: u64, of: impl Fn(u64) -> Report) -> anyhow::Result<f64> {
    let (now, begun) = (chrono::Utc::now(), Instant::now());
    let calls = (0..count).step_by(usize::try_from(CALL)?).map(|first| {
        let reports: Vec<_> = (first..count.min(first + CALL)).map(&of).collect();
        let store = Arc::clone(store);
        async move {
            let answers = tokio::spawn(async move { store.report(reports, now).await }).await??;
            ensure!(
                answers.iter().all(|answer| matches!(answer, Reported::Stored(_))),
                "a report was not stored"
            );
            Ok(())
        }
    });
    stream::iter(calls).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    Ok(begun.elapsed().as_secs_f64())
}

fn report(uid: u64, day: Day, source: &Source, amount: Amount) -> Report {
    let freezes = chrono::DateTime::<chrono::Utc>::MAX_UTC;
    Report { uid: Uid(uid), day, source: source.clone(), amount, id: None, freezes }
}

/// The numbers below `users` in an order in which neighbours are far apart.
fn mixed(n: u64, users: u64) -> u64 {
    let stride = 7_368_787;
    // it has no factor in common with any power of ten
    n * stride % users
}
