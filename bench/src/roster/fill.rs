use std::sync::Arc;

use anyhow::Context;
use chrono::TimeDelta;
use directory::{Page, RedisDirectory, RosterRow};
use domain::{ChannelName, Instant, Uid};
use xxhash_rust::xxh3::xxh3_64;

use crate::{hour::Hour, seals::Uids};

/// How many pages there are.
const PAGES: u32 = 65_536;
/// Users that are sorted by page at once; the uids of a hundred million would take the memory that the servers need.
const AT_ONCE: u64 = 8_000_000;
/// Pages of one call, and calls under way at once.
const CALL: usize = 64;
const CALLS: usize = 2;

/// Puts users into the directory's pages, as changes would: in thirty zones that share the night's instant, on one or both
/// of two channels, all opted in at some minute of the two years before. They get no records, which nobody here reads.
pub(super) async fn fill(
    directory: &Arc<RedisDirectory>,
    users: u64,
    uids: Uids,
    hour: &Hour,
) -> anyhow::Result<()> {
    let (now, [stub, other]) = (chrono::Utc::now(), ["stub", "other"].map(str::parse));
    let drawn = Arc::new(Draw { hour: hour.clone(), channels: [stub?, other?], now });
    let rounds = u32::try_from(users.div_ceil(AT_ONCE))?;
    let mut calls = tokio::task::JoinSet::new();
    for round in 0..rounds {
        let pages = round * PAGES / rounds..(round + 1) * PAGES / rounds;
        let here = (0..users).map(|nth| uids.nth(nth)).filter(|uid| pages.contains(&Page::number_of(*uid)));
        let mut here: Vec<_> = here.collect();
        here.sort_unstable_by_key(|uid| (Page::number_of(*uid), uid.0));
        let pages: Vec<_> = here.chunk_by(|a, b| Page::number_of(*a) == Page::number_of(*b)).collect();
        for call in pages.chunks(CALL) {
            if calls.len() == CALLS {
                calls.join_next().await.context("no call")???;
            }
            let uids: Vec<_> = call.iter().map(|uids| uids.to_vec()).collect();
            let (directory, drawn) = (Arc::clone(directory), Arc::clone(&drawn));
            calls.spawn(async move {
                let page = |uids: Vec<Uid>| {
                    let number = uids.first().map_or(0, |uid| Page::number_of(*uid));
                    (number, uids.into_iter().map(|uid| drawn.row(uid)).collect())
                };
                let pages: Vec<_> = uids.into_iter().map(page).collect();
                anyhow::Ok(directory.put_pages(&pages, drawn.now).await?)
            });
        }
    }
    while let Some(done) = calls.join_next().await {
        done??;
    }
    Ok(())
}

/// What users are drawn from.
struct Draw {
    hour: Hour,
    channels: [ChannelName; 2],
    now: Instant,
}

impl Draw {
    fn row(&self, uid: Uid) -> RosterRow {
        let draw = xxh3_64(&uid.0.to_le_bytes());
        let minutes = i64::try_from(draw % (2 * 365 * 24 * 60)).unwrap_or_default();
        let place = usize::try_from((draw >> 24) % 30).unwrap_or_default();
        let channels = match draw >> 40 & 7 {
            0..4 => &self.channels[..1],
            4..6 => &self.channels[1..],
            _ => &self.channels[..],
        };
        RosterRow {
            uid,
            zone: self.hour.zones[place % self.hour.zones.len()],
            moved: None,
            consent: true,
            due_from: self.now - TimeDelta::minutes(24 * 60 + minutes),
            channels: channels.to_vec(),
        }
    }
}
