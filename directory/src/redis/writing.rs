use std::{
    collections::VecDeque,
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use domain::Instant;
use futures_util::{StreamExt, TryStreamExt, stream};
use plumbing::Redis;

use super::commands;
use crate::{
    Applied, RosterRow, StoreError,
    edit::{Edit, Step, Write, by_page},
};

/// The most steps on a page in one script, which blocks the server while it runs.
const STEPS: usize = 256;
/// The most pages, and the most steps, in one pipeline.
const PAGES_AT_ONCE: usize = 64;
const STEPS_AT_ONCE: usize = 2_048;
/// Pipelines under way.
const IN_FLIGHT: usize = 4;
/// How often a page is read again because others changed it in between.
const MOST_TRIES: u32 = 100;

/// Steps on one page that are not taken yet.
struct Open {
    page: u32,
    /// Places among all steps, in order.
    places: VecDeque<usize>,
    tries: u32,
}

/// What one round did on a page.
struct Round {
    open: Open,
    /// The answers to the first so many of its steps; none where another writer came in between.
    applied: Vec<Applied>,
}

/// Takes steps: reads each page with its records, edits it, and writes it if nobody changed it since, else again.
pub(super) async fn take(redis: &Redis, steps: &[Step], now: Instant) -> Result<Vec<Applied>, StoreError> {
    let mut applied = vec![Applied::Absent; steps.len()];
    let mut open: Vec<_> = by_page(steps)
        .into_iter()
        .map(|(page, places)| Open { page, places: places.into(), tries: 0 })
        .collect();
    while !open.is_empty() {
        let rounds: Vec<_> = stream::iter(pipelines(open))
            .map(|pages| round(redis, steps, pages, now))
            .buffer_unordered(IN_FLIGHT)
            .try_collect()
            .await?;
        open = Vec::new();
        let mut tries = 0;
        for Round { open: mut page, applied: done } in rounds.into_iter().flatten() {
            page.tries = if done.is_empty() { page.tries + 1 } else { 0 };
            tries = tries.max(page.tries);
            for (place, done) in page.places.drain(..done.len()).zip(done) {
                applied[place] = done;
            }
            if !page.places.is_empty() {
                open.push(page);
            }
        }
        wait(tries).await?;
    }
    Ok(applied)
}

/// Puts up pages that are not there yet, without records.
pub(super) async fn put_pages(
    redis: &Redis,
    pages: &[(u32, Vec<RosterRow>)],
    now: Instant,
) -> Result<(), StoreError> {
    let refused = |why: crate::Refusal| StoreError::corrupt("a row of a page", format!("{why:?}"));
    for pages in pages.chunks(PAGES_AT_ONCE) {
        let writes = pages.iter().map(|(number, rows)| Write::of_rows(*number, rows, now).map_err(refused));
        let writes = writes.collect::<Result<Vec<_>, _>>()?;
        let commands = writes.iter().flatten().map(|write| commands::write(redis, write)).collect();
        if redis.write_all::<u8>(commands).await?.contains(&0) {
            return Err(StoreError::corrupt("a page of the directory", "it is there already"));
        }
    }
    Ok(())
}

/// Deals pages to pipelines.
fn pipelines(open: Vec<Open>) -> Vec<Vec<Open>> {
    let mut pipelines: Vec<Vec<Open>> = Vec::new();
    let mut room = 0;
    for page in open {
        let steps = page.places.len().min(STEPS);
        match pipelines.last_mut() {
            Some(last) if last.len() < PAGES_AT_ONCE && steps <= room => {
                room -= steps;
                last.push(page);
            }
            _ => {
                room = STEPS_AT_ONCE - steps;
                pipelines.push(vec![page]);
            }
        }
    }
    pipelines
}

/// Takes the next steps of each of some pages.
async fn round(
    redis: &Redis,
    steps: &[Step],
    pages: Vec<Open>,
    now: Instant,
) -> Result<Vec<Round>, StoreError> {
    let read = |open: &Open| {
        let uids: Vec<_> = open.next().map(|place| steps[place].uid()).collect();
        commands::read(redis, open.page, &uids)
    };
    let found = redis.read_all::<Vec<Option<Vec<u8>>>>(pages.iter().map(read).collect()).await?;
    let (mut rounds, mut writes, mut written) = (Vec::with_capacity(pages.len()), Vec::new(), Vec::new());
    for (open, found) in pages.into_iter().zip(found) {
        let mut found = found.into_iter();
        let page = found.next().flatten();
        let records = open.next().map(|place| steps[place].uid()).zip(found);
        let mut edit = Edit::open(open.page, page, records, now)?;
        let applied = open.next().map(|place| edit.step(&steps[place])).collect();
        if let Some(write) = edit.end() {
            writes.push(commands::write(redis, &write));
            written.push(rounds.len());
        }
        rounds.push(Round { open, applied });
    }
    for (round, done) in written.into_iter().zip(redis.write_all::<u8>(writes).await?) {
        if done == 0 {
            rounds[round].applied.clear();
        }
    }
    Ok(rounds)
}

impl Open {
    /// The places of the steps that come next.
    fn next(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().take(STEPS).copied()
    }
}

/// Waits after so many tries in vain, so that writers on one page come apart.
async fn wait(tries: u32) -> Result<(), StoreError> {
    if tries >= MOST_TRIES {
        let why = "a page of the directory is being changed by others all the time";
        return Err(StoreError::Unavailable(why.into()));
    }
    if tries > 1 {
        let most = u64::from(tries.min(32));
        // a hasher of its own seed is a die
        let die = RandomState::new().hash_one(tries) % (most * 1_000);
        tokio::time::sleep(Duration::from_micros(die)).await;
    }
    Ok(())
}
