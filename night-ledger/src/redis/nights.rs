//! The list of nights, their brakes, and what is forgotten.

use std::collections::HashMap;

use chrono::NaiveTime;
use domain::{CampaignName, Day, Instant, Night, Shard, ShardCount, Zone};
use plumbing::{Command, Redis, StoreError};

use super::{
    keys::{self, SealKeys, ShardKeys},
    scripts, seals,
};
use crate::{Brake, Brakes};

pub(super) async fn first_seen(
    redis: &Redis,
    campaign: &CampaignName,
    line: &str,
    now: Instant,
) -> Result<Instant, StoreError> {
    let field = format!("{campaign} {line}");
    let keep = scripts::KEEP.call(&[keys::first_seen(redis)]).arg(field).arg(now.timestamp_millis());
    let at: i64 = redis.write(keep).await?;
    Instant::from_timestamp_millis(at).ok_or_else(|| StoreError::corrupt("first seen", at))
}

/// The shard count of a night, `n` if it has none yet.
pub(super) async fn shard_count(
    redis: &Redis,
    night: &Night,
    n: ShardCount,
) -> Result<ShardCount, StoreError> {
    let keep = scripts::KEEP.call(&[keys::nights(redis)]).arg(night.to_string()).arg(n.get());
    let held: u32 = redis.write(keep).await?;
    count(held)
}

/// The nights held with their shard counts, oldest first.
pub(super) async fn list(redis: &Redis) -> Result<Vec<(Night, ShardCount)>, StoreError> {
    let held: HashMap<String, u32> = redis.read(Command::new("HGETALL").key(keys::nights(redis))).await?;
    let mut nights = Vec::with_capacity(held.len());
    for (name, n) in held {
        let parts = name.split_once('/').and_then(|(campaign, day)| {
            Some(Night { campaign: campaign.parse().ok()?, day: day.parse().ok()? })
        });
        nights.push((parts.ok_or_else(|| StoreError::corrupt("night", &name))?, count(n)?));
    }
    nights.sort_by(|(a, _), (b, _)| (a.day, &a.campaign).cmp(&(b.day, &b.campaign)));
    Ok(nights)
}

/// The shards of a night; none when it is not held.
pub(super) async fn shards(redis: &Redis, night: &Night) -> Result<Option<ShardCount>, StoreError> {
    let held = Command::new("HGET").key(keys::nights(redis)).arg(night.to_string());
    redis.read::<Option<u32>>(held).await?.map(count).transpose()
}

pub(super) async fn set_brake(
    redis: &Redis,
    night: &Night,
    zone: Option<Zone>,
    brake: Option<Brake>,
) -> Result<(), StoreError> {
    let command = scripts::BRAKE
        .call(&[keys::brakes(redis, night)])
        .arg(zone.map_or("", Zone::name))
        .arg(brake.map_or(String::new(), |brake| brake.code().to_string()))
        .arg(Brake::Aborted.code())
        .arg(keys::TIME_TO_LIVE)
        .arg(night.day.next().date().and_time(NaiveTime::MIN).and_utc().timestamp());
    redis.write::<u64>(command).await.map(drop)
}

pub(super) async fn brakes(redis: &Redis, night: &Night) -> Result<Brakes, StoreError> {
    let held: HashMap<String, u8> =
        redis.read(Command::new("HGETALL").key(keys::brakes(redis, night))).await?;
    let mut brakes = Brakes::default();
    for (zone, code) in held {
        let brake = Brake::from_code(code).ok_or_else(|| StoreError::corrupt("brake", code))?;
        if zone.is_empty() {
            brakes.whole = Some(brake);
        } else {
            brakes.zones.insert(zone.parse().map_err(|error| StoreError::corrupt("brake", error))?, brake);
        }
    }
    Ok(brakes)
}

/// Forgets the nights before `day`, shard by shard; a night leaves the list last, so that a run that is interrupted is
/// finished by the next one.
pub(super) async fn forget(redis: &Redis, day: Day) -> Result<u64, StoreError> {
    let mut forgotten = 0;
    for (night, n) in list(redis).await?.into_iter().filter(|(night, _)| night.day < day) {
        for shard in Shard::all(n) {
            forget_shard(redis, &night, shard).await?;
        }
        redis.write::<u64>(Command::new("UNLINK").key(keys::brakes(redis, &night))).await?;
        redis.write::<u64>(Command::new("HDEL").key(keys::nights(redis)).arg(night.to_string())).await?;
        forgotten += 1;
    }
    Ok(forgotten)
}

async fn forget_shard(redis: &Redis, night: &Night, shard: Shard) -> Result<(), StoreError> {
    let of_shard = ShardKeys::of(redis, night, shard);
    let mut unlink = Command::new("UNLINK");
    for seconds in seals::progress(redis, night, shard).await?.into_keys() {
        let SealKeys { seal, claims, moved, channels, pending, worked, leases } = of_shard.seal(seconds);
        for key in [seal, claims, moved, channels, pending, worked, leases] {
            unlink = unlink.key(key);
        }
    }
    for key in [of_shard.zones(), of_shard.sums(), of_shard.progress()] {
        unlink = unlink.key(key);
    }
    redis.write::<u64>(unlink).await.map(drop)
}

fn count(n: u32) -> Result<ShardCount, StoreError> {
    ShardCount::new(n).ok_or_else(|| StoreError::corrupt("shard count", n))
}
