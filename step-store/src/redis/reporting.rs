mod command;
mod found;
mod open;

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use domain::Instant;
use plumbing::Redis;

pub(super) use self::command::{Found, Writing, command};
use self::open::Open;
use super::reading;
use crate::{Report, Reported, StoreError, work::units};

/// The most pages one script writes, so that none holds up the server for long.
const PAGES: usize = 128;

/// How often what comes of reports is worked out again because others changed something in between.
const MOST_GOES: u32 = 100;

/// Reads the pages, works out what comes of the reports, and writes it where nothing else is found; else again, by what was.
pub(super) async fn report(
    redis: &Redis,
    reports: Vec<Report>,
    now: Instant,
) -> Result<Vec<Reported>, StoreError> {
    let mut answers = vec![None; reports.len()];
    let mut open: Vec<_> = units(reports).into_iter().map(Open::new).collect();
    let mut wanted = BTreeMap::<_, Vec<_>>::new();
    for unit in &open {
        unit.days().into_iter().for_each(|day| wanted.entry(day).or_default().push(unit.number()));
    }
    let mut found = reading::pages(redis, &wanted).await?;
    for unit in &mut open {
        unit.hold(&mut found);
    }
    for go in 0..MOST_GOES {
        // what needs no write has its answers
        let mut wanting = Vec::with_capacity(open.len());
        for mut unit in open {
            if unit.work_out() {
                wanting.push(unit);
            } else {
                unit.answer(&mut answers);
            }
        }
        open = match wanting.is_empty() {
            true => break,
            false => round(redis, wanting, now, &mut answers).await?,
        };
        rest(go).await;
    }
    let busy = || {
        StoreError::Unavailable("pages of the step store are being changed by others all the time".to_owned())
    };
    answers.into_iter().map(|answer| answer.ok_or_else(busy)).collect()
}

/// Writes what was worked out, and answers those with which something stood in the way.
async fn round(
    redis: &Redis,
    wanting: Vec<Open>,
    now: Instant,
    answers: &mut [Option<Reported>],
) -> Result<Vec<Open>, StoreError> {
    let mut parts = BTreeMap::<u32, Vec<Open>>::new();
    wanting.into_iter().for_each(|unit| parts.entry(unit.part()).or_default().push(unit));
    let scripts = parts.into_iter().flat_map(|(part, units)| {
        let mut scripts: Vec<(u32, Vec<Open>)> = Vec::new();
        for unit in units {
            match scripts.last_mut() {
                Some((_, last)) if last.len() < PAGES => last.push(unit),
                _ => scripts.push((part, vec![unit])),
            }
        }
        scripts
    });
    let scripts: Vec<_> = scripts.collect();
    let writes = scripts.iter().map(|(part, units)| {
        command(redis, *part, &units.iter().map(Open::writing).collect::<Vec<_>>(), now)
    });
    let told = redis.write_all::<Vec<Found>>(writes.collect()).await?;
    let mut open = Vec::new();
    for ((_, units), told) in scripts.into_iter().zip(told) {
        for (mut unit, found) in units.into_iter().zip(told) {
            if found.is_empty() {
                unit.answer(answers);
            } else {
                unit.learn(&found)?;
                open.push(unit);
            }
        }
    }
    Ok(open)
}

/// Waits after some goes in vain, so that writers on one page come apart.
async fn rest(go: u32) {
    if go > 2 {
        // a hasher of its own seed is a die
        let die = RandomState::new().hash_one(go) % (u64::from(go.min(32)) * 500);
        tokio::time::sleep(Duration::from_micros(die)).await;
    }
}
