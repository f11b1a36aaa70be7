//! Who is alive, and who has which shard.

use std::time::Duration;

use domain::Shard;
use plumbing::{Command, Redis, StoreError};

use super::{keys, scripts};
use crate::{Group, Owner, ShardLease};

pub(super) async fn members(
    redis: &Redis,
    group: Group,
    owner: Owner,
    term: Duration,
) -> Result<Vec<Owner>, StoreError> {
    let command = scripts::MEMBERS.call(&[keys::members(redis, group)]).arg(owner.0).arg(millis(term));
    let alive: Vec<u64> = redis.write(command).await?;
    let mut alive: Vec<Owner> = alive.into_iter().map(Owner).collect();
    alive.sort_unstable_by_key(|owner| owner.0);
    Ok(alive)
}

pub(super) async fn leave(redis: &Redis, group: Group, owner: Owner) -> Result<(), StoreError> {
    let command = Command::new("ZREM").key(keys::members(redis, group)).arg(owner.0);
    redis.write::<u64>(command).await.map(drop)
}

pub(super) async fn lease(
    redis: &Redis,
    shard: Shard,
    owner: Owner,
    term: Duration,
    above: u64,
) -> Result<ShardLease, StoreError> {
    let command = scripts::SHARD.call(&[keys::shard_leases(redis)]).arg(shard.0).arg(owner.0);
    let command = command.arg(millis(term)).arg(above);
    Ok(match redis.write::<u64>(command).await? {
        0 => ShardLease::Taken,
        epoch => ShardLease::Held(epoch),
    })
}

pub(super) async fn release(redis: &Redis, shard: Shard, owner: Owner) -> Result<(), StoreError> {
    let command = scripts::SHARD.call(&[keys::shard_leases(redis)]).arg(shard.0).arg(owner.0).arg("");
    redis.write::<u64>(command).await.map(drop)
}

/// Milliseconds of a term, a year at most.
fn millis(term: Duration) -> u64 {
    const YEAR: u64 = 365 * 86_400_000;
    u64::try_from(term.as_millis()).map_or(YEAR, |millis| millis.min(YEAR))
}
