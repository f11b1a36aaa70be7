use anyhow::ensure;
use chrono::TimeDelta;
use domain::{Day, Instant, Uid};
use step_store::{Amount, Report, ReportId, Reported, Source, StepStore};
use xxhash_rust::xxh3::xxh3_64;

/// What the reports carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ids {
    /// Totals without ids.
    None,
    /// So many increments with an id each, beside the watch's total.
    Each(u32),
}

/// Users of a call.
const PIECE: usize = 1_000;

/// Writes a phone's and a watch's steps of `day` for everybody.
pub(super) async fn fill(steps: &dyn StepStore, users: &[Uid], day: Day, ids: Ids) -> anyhow::Result<()> {
    let now = day.date().and_hms_opt(12, 0, 0).unwrap_or_default().and_utc();
    for piece in users.chunks(PIECE) {
        let reports = piece.iter().flat_map(|uid| of_user(*uid, day, now, ids));
        for reports in reports.collect::<Vec<_>>().chunks(step_store::MOST_REPORTS) {
            let answers = steps.report(reports.to_vec(), now).await?;
            ensure!(
                answers.iter().all(|answer| matches!(answer, Reported::Stored(_))),
                "a report was not stored"
            );
        }
    }
    Ok(())
}

fn of_user(uid: Uid, day: Day, now: Instant, ids: Ids) -> Vec<Report> {
    // validated names: they always parse
    let [Ok(phone), Ok(watch)] = ["phone", "watch"].map(str::parse::<Source>) else { return Vec::new() };
    let walked = steps(uid);
    let report = |source: &Source, amount, id| Report {
        uid,
        day,
        source: source.clone(),
        amount,
        id,
        freezes: now + TimeDelta::days(1),
    };
    let mut reports = vec![report(&watch, Amount::Total(walked), None)];
    match ids {
        Ids::None => reports.push(report(&phone, Amount::Total(walked * 4 / 5), None)),
        Ids::Each(count) => reports.extend((0..count).map(|number| {
            let id = ReportId(xxh3_64(&[uid.0.to_le_bytes(), u64::from(number).to_le_bytes()].concat()));
            report(&phone, Amount::Add(walked * 4 / 5 / count), Some(id))
        })),
    }
    reports
}

/// 1,000 to 20,999 steps.
pub(super) fn steps(uid: Uid) -> u32 {
    1_000 + u32::try_from((xxh3_64(&uid.0.to_le_bytes()) >> 32) % 20_000).unwrap_or_default()
}
