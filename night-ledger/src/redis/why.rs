//! "Why did this user get none, or one, and when?"

use domain::{BatchId, Instant, Night, SealKey, Shard, Uid};
use plumbing::{Command, Redis, StoreError};

use super::{keys, nights, seals, view};
use crate::{Why, Worked, fields::Reader, runs::Runs};

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

/// So many entries of the log are read at once.
const PAGE: usize = 4_096;

async fn worked(redis: &Redis, key: &SealKey, position: u32) -> Result<Vec<Worked>, StoreError> {
    let (_, names) = keys::of_seal(redis, key);
    let (mut worked, mut from) = (Vec::new(), 0);
    loop {
        let page = Command::new("LRANGE").key(&names.worked).arg(from).arg(from + PAGE - 1);
        let entries: Vec<Vec<u8>> = redis.read(page).await?;
        for entry in &entries {
            worked.extend(names_position(entry, position)?);
        }
        from += PAGE;
        if entries.len() < PAGE {
            break;
        }
    }
    worked.sort_by_key(|chunk| chunk.at);
    Ok(worked)
}

fn names_position(entry: &[u8], position: u32) -> Result<Option<Worked>, StoreError> {
    let parts = || {
        let (at, rest) = entry.split_first_chunk()?;
        let (batch, rest) = rest.split_first_chunk()?;
        let (&attempt, runs) = rest.split_first()?;
        let at = Instant::from_timestamp_millis(i64::from_be_bytes(*at))?;
        Some((Worked { at, batch: BatchId(u128::from_be_bytes(*batch)), attempt }, runs))
    };
    let (worked, runs) = parts().ok_or_else(|| StoreError::corrupt("worked", format!("{entry:?}")))?;
    let runs = Runs::decode(&mut Reader::new("worked", runs))?;
    Ok(runs.contains(position).then_some(worked))
}
