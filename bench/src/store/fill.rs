use std::{sync::Arc, time::Instant};

use anyhow::ensure;
use domain::{Day, Uid};
use futures_util::future::try_join_all;
use step_store::{Amount, Report, ReportId, Reported, Source, StepStore};

/// Reports of a call.
const CALL: u64 = 500;
/// The parts of users, and how many neighbours are in one.
const PARTS: u64 = step_store::PARTS as u64;
const NEIGHBOURS: u64 = 32;

/// A total of a phone and one of a watch for each user; seconds.
pub(super) async fn two_sources(store: &Arc<dyn StepStore>, users: u64, day: Day) -> anyhow::Result<f64> {
    let (phone, watch): (Source, Source) = ("phone".parse()?, "watch".parse()?);
    give(store, users, 2, |uid, round| {
        let source = if round == 0 { &phone } else { &watch };
        let steps = (uid + round) * 7_919 % 19_000;
        report(uid, day, source, Amount::Total(u32::try_from(steps).unwrap_or(0)))
    })
    .await
}

/// Ten increments with ids of each of some users; seconds.
pub(super) async fn increments(store: &Arc<dyn StepStore>, users: u64, day: Day) -> anyhow::Result<f64> {
    let source: Source = "band".parse()?;
    give(store, users, 10, |uid, round| {
        let one = report(uid, day, &source, Amount::Add(10));
        Report { id: ReportId::of(&source, &round.to_string()).ok(), ..one }
    })
    .await
}

/// Gives so many reports of each user. As in the program, there is one call at a time for a part, and neighbours are not in one.
async fn give(
    store: &Arc<dyn StepStore>,
    users: u64,
    rounds: u64,
    of: impl Fn(u64, u64) -> Report,
) -> anyhow::Result<f64> {
    let (now, begun, of) = (chrono::Utc::now(), Instant::now(), &of);
    let share = users / PARTS;
    let parts = (0..PARTS).map(|part| async move {
        for first in (0..share * rounds).step_by(usize::try_from(CALL)?) {
            let numbers = first..(share * rounds).min(first + CALL);
            let reports: Vec<_> = numbers.map(|n| of(uid(part, n % share, share), n / share)).collect();
            let store = Arc::clone(store);
            let answers = tokio::spawn(async move { store.report(reports, now).await }).await??;
            let stored = answers.iter().all(|answer| matches!(answer, Reported::Stored(_)));
            ensure!(stored, "a report was not stored");
        }
        Ok(())
    });
    try_join_all(parts).await?;
    Ok(begun.elapsed().as_secs_f64())
}

/// A user of a part, those of following numbers far apart.
fn uid(part: u64, number: u64, share: u64) -> u64 {
    let place = number * 7_368_787 % share;
    place / NEIGHBOURS * PARTS * NEIGHBOURS + part * NEIGHBOURS + place % NEIGHBOURS
}

fn report(uid: u64, day: Day, source: &Source, amount: Amount) -> Report {
    let freezes = chrono::DateTime::<chrono::Utc>::MAX_UTC;
    Report { uid: Uid(uid), day, source: source.clone(), amount, id: None, freezes }
}
