//! Seals, how far they have come, and the epochs that guard that.

use std::collections::{BTreeMap, HashMap};

use domain::{Instant, Night, SealKey, Shard, Zone};
use plumbing::{Command, Redis, StoreError};

use super::{
    keys::{self, ShardKeys},
    scripts::{self, put_sums},
};
use crate::{Progress, Raised, Seal, Sealed, seal};

pub(super) async fn write(redis: &Redis, key: &SealKey, seal: &Seal) -> Result<Sealed, StoreError> {
    seal.check()?;
    let (shard, names) = keys::of_seal(redis, key);
    let claims: Vec<u8> = seal.due.iter().map(|due| due.claim().byte()).collect();
    let keys = [&names.seal, &names.claims, &shard.zones(), &shard.progress(), &shard.sums(), &names.leases];
    let mut command = scripts::SEAL
        .call(&keys)
        .arg(seal::encode(seal))
        .arg(claims)
        .arg(key.instant.timestamp())
        .arg(seal.deadline().map_or(0, |at| at.timestamp()))
        .arg(keys::TIME_TO_LIVE)
        .arg(seal.zones.len());
    for zone in &seal.zones {
        command = command.arg(zone.zone.name());
    }
    let answer: Vec<i64> = redis.write(put_sums(command, &seal.deltas())).await?;
    match answer[..] {
        [1] => Ok(Sealed::Written),
        [0] => Ok(Sealed::Stands),
        [2, place, seconds] => {
            let place = usize::try_from(place).ok().and_then(|place| place.checked_sub(1));
            let zone = place.and_then(|place| seal.zones.get(place));
            let at = Instant::from_timestamp(seconds, 0);
            let (Some(zone), Some(at)) = (zone, at) else { return Err(bad("seal", &answer)) };
            Ok(Sealed::ZoneTaken(zone.zone, at))
        }
        _ => Err(bad("seal", &answer)),
    }
}

pub(super) async fn read(redis: &Redis, key: &SealKey) -> Result<Option<Seal>, StoreError> {
    let (_, names) = keys::of_seal(redis, key);
    let bytes: Option<Vec<u8>> = redis.read(Command::new("GET").key(&names.seal)).await?;
    bytes.map(|bytes| seal::decode(&bytes, key.shard.0)).transpose()
}

/// The seals of a night's shard, by instant.
pub(super) async fn list(
    redis: &Redis,
    night: &Night,
    shard: Shard,
) -> Result<Vec<(SealKey, Progress)>, StoreError> {
    let names = ShardKeys::of(redis, night, shard);
    let mut seals = progress(redis, night, shard).await?;
    let all = |key: String| Command::new("HGETALL").key(key);
    let zones: HashMap<String, i64> = redis.read(all(names.zones())).await?;
    let sums: HashMap<String, i64> = redis.read(all(names.sums())).await?;
    for (field, count) in sums {
        let (_, zone, place) =
            keys::split_count(&field).ok_or_else(|| StoreError::corrupt("sums", &field))?;
        let seal = zones.get(Zone::name(zone)).and_then(|seconds| seals.get_mut(seconds));
        if let Some(progress) = seal
            && place == OPEN
        {
            progress.open += u64::try_from(count).map_err(|_| StoreError::corrupt("sums", &field))?;
        }
    }
    let named = seals.into_iter().map(|(seconds, progress)| {
        let instant =
            Instant::from_timestamp(seconds, 0).ok_or_else(|| StoreError::corrupt("instant", seconds))?;
        Ok((SealKey { night: night.clone(), shard, instant }, progress))
    });
    named.collect()
}

/// The place of the open ones in a line's counts.
const OPEN: usize = 1;

/// How far the seals of a shard are, by instant in Unix seconds, without who is open.
pub(super) async fn progress(
    redis: &Redis,
    night: &Night,
    shard: Shard,
) -> Result<BTreeMap<i64, Progress>, StoreError> {
    let key = ShardKeys::of(redis, night, shard).progress();
    let fields: HashMap<String, String> = redis.read(Command::new("HGETALL").key(key)).await?;
    let mut seals = BTreeMap::<i64, Progress>::new();
    for (field, value) in fields.iter().filter(|(field, _)| *field != "epoch") {
        let bad = || StoreError::corrupt("progress", format!("{field}: {value}"));
        let (kind, seconds) = field.split_at_checked(1).ok_or_else(bad)?;
        let progress = seals.entry(seconds.parse().map_err(|_| bad())?).or_default();
        match kind {
            "b" => progress.batches = value.parse().map_err(|_| bad())?,
            "c" => progress.closed = value == CLOSED,
            "d" => progress.deadline = value.parse().map_err(|_| bad())?,
            _ => return Err(bad()),
        }
    }
    Ok(seals)
}

/// The end of a seal that is open, in `progress`.
pub(super) const STILL_OPEN: &str = "0";
/// The end of one that is being closed.
pub(super) const ENDING: &str = "1";
/// The end of one that is closed.
pub(super) const CLOSED: &str = "2";

pub(super) async fn raise(
    redis: &Redis,
    night: &Night,
    shard: Shard,
    epoch: u64,
) -> Result<Raised, StoreError> {
    let key = ShardKeys::of(redis, night, shard).progress();
    let answer = redis.write(scripts::EPOCH.call(&[key]).arg(epoch).arg(keys::TIME_TO_LIVE)).await?;
    raised(answer)
}

pub(super) async fn checkpoint(
    redis: &Redis,
    key: &SealKey,
    epoch: u64,
    batches: u32,
) -> Result<Raised, StoreError> {
    let (shard, _) = keys::of_seal(redis, key);
    let raise = scripts::EPOCH.call(&[shard.progress()]).arg(epoch).arg(keys::TIME_TO_LIVE);
    let field = format!("b{}", key.instant.timestamp());
    raised(redis.write(raise.arg(field).arg(batches)).await?)
}

fn raised(answer: Vec<i64>) -> Result<Raised, StoreError> {
    match answer[..] {
        [1] => Ok(Raised::Yes),
        [0, held] => Ok(Raised::Outbid(u64::try_from(held).map_err(|_| bad("epoch", &answer))?)),
        [3] => Err(StoreError::corrupt("checkpoint", "there is no such seal")),
        _ => Err(bad("epoch", &answer)),
    }
}

fn bad(what: &'static str, answer: &[i64]) -> StoreError {
    StoreError::corrupt(what, format!("the script answered {answer:?}"))
}
