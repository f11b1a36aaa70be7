use std::sync::Arc;

use anyhow::{Context, ensure};
use chrono::TimeDelta;
use directory::{Applied, Change, Directory, NewDevice, NewUser};
use domain::{ChannelName, Instant, Uid};
use xxhash_rust::xxh3::xxh3_64;

use crate::{hour::Hour, seals::Uids};

/// Changes of one call, as many as it takes.
const AT_ONCE: usize = 10_000;
/// Calls under way at once.
const CALLS: usize = 4;
/// Uids with the same `uid >> 8`, modulo so many, are in one page.
const PAGES: u64 = 65_536;

/// Puts users into the directory: in thirty zones that share the night's instant, on one or both of two channels, all
/// opted in at some minute of the two years before. Page by page, so that each is written a few times only.
pub(super) async fn fill(
    directory: &Arc<dyn Directory>,
    users: u64,
    uids: Uids,
    hour: &Hour,
) -> anyhow::Result<()> {
    let mut all: Vec<Uid> = (0..users).map(|nth| uids.nth(nth)).collect();
    all.sort_unstable_by_key(|uid| ((uid.0 >> 8) % PAGES, uid.0));
    let (now, channels) = (chrono::Utc::now(), ["stub", "other"].map(str::parse));
    let [stub, other] = channels;
    let channels = [stub?, other?];
    let mut calls = tokio::task::JoinSet::new();
    for part in all.chunks(AT_ONCE) {
        if calls.len() == CALLS {
            calls.join_next().await.context("no call")???;
        }
        let changes = part.iter().map(|&uid| Change::Put(user(uid, hour, &channels, now))).collect();
        let directory = Arc::clone(directory);
        calls.spawn(async move {
            let applied = directory.apply(changes, now).await?;
            ensure!(applied.iter().all(|a| *a == Applied::Created), "not everybody is new");
            anyhow::Ok(())
        });
    }
    while let Some(done) = calls.join_next().await {
        done??;
    }
    Ok(())
}

fn user(uid: Uid, hour: &Hour, channels: &[ChannelName; 2], now: Instant) -> NewUser {
    let draw = xxh3_64(&uid.0.to_le_bytes());
    let minutes = i64::try_from(draw % (2 * 365 * 24 * 60)).unwrap_or_default();
    let at = now - TimeDelta::minutes(minutes) - TimeDelta::days(1);
    let place = usize::try_from((draw >> 24) % 30).unwrap_or_default();
    let used = match draw >> 40 & 7 {
        0..4 => &channels[..1],
        4..6 => &channels[1..],
        _ => &channels[..],
    };
    let device = |channel: &ChannelName| NewDevice {
        channel: channel.clone(),
        // the roster has no addresses: short ones leave the memory to what it has
        address: format!("{draw:x}"),
        registered_at: Some(at),
    };
    NewUser {
        uid,
        zone: hour.zones[place % hour.zones.len()],
        region: None,
        language: None,
        consent: Some(true),
        consent_at: Some(at),
        devices: Some(used.iter().map(device).collect()),
        name: None,
    }
}
