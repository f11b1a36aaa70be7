//! "Why did this user get none, or one, and when?"

use domain::{Night, SealKey, Shard, Uid};
use plumbing::{Command, Redis, StoreError};

use super::{keys, log, nights, seals, view};
use crate::{Why, Worked};

pub(super) async fn why(redis: &Redis, night: &Night, uid: Uid) -> Result<Option<Why>, StoreError> {
    let Some(n) = nights::shards(redis, night).await? else { return Ok(None) };
    for (key, _) in seals::list(redis, night, Shard::of(uid, n)).await? {
        let Some(seal) = seals::read(redis, &key).await? else { continue };
        let Some((position, due)) = (0u32..).zip(&seal.due).find(|(_, due)| due.uid == uid) else { continue };
        let held = view::claims(redis, &key, &[position]).await?.pop();
        let held = held.ok_or_else(|| StoreError::corrupt("claim", position))?;
        return Ok(Some(Why {
            position,
            slot: due.slot,
            zone: seal.zones[usize::from(due.zone)].zone,
            channel: held.moved.unwrap_or_else(|| seal.channels[usize::from(due.channel)].clone()),
            claim: held.claim,
            worked: worked(redis, &key, position).await?,
            seal: key,
        }));
    }
    Ok(None)
}

async fn worked(redis: &Redis, key: &SealKey, position: u32) -> Result<Vec<Worked>, StoreError> {
    let (_, names) = keys::of_seal(redis, key);
    let batches: Vec<(Vec<u8>, Vec<u8>)> = redis.read(Command::new("HGETALL").key(&names.worked)).await?;
    let mut worked = Vec::new();
    for (batch, chunks) in &batches {
        let (batch, attempt) = log::batch(batch)?;
        let times = log::times(chunks, key, position)?;
        worked.extend(times.into_iter().map(|at| Worked { at, batch, attempt }));
    }
    worked.sort_by_key(|chunk| chunk.at);
    Ok(worked)
}
