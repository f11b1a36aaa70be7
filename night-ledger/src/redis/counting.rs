//! Sums as they are counted along, and the recount from the claims.

use std::collections::{BTreeMap, HashMap};

use domain::{ChannelName, Night, SealKey, Shard, ShardCount, Zone};
use plumbing::{Command, Redis, StoreError};

use super::{
    keys::{self, ShardKeys},
    nights, seals, view,
};
use crate::{Line, Sums, sums::COUNTS};

/// So many shards are asked at once.
const AT_ONCE: usize = 64;

pub(super) async fn sums(redis: &Redis, night: &Night) -> Result<Sums, StoreError> {
    let mut sums = Sums::default();
    let shards = all_shards(nights::shards(redis, night).await?);
    for shards in shards.chunks(AT_ONCE) {
        let commands = shards.iter().map(|&shard| {
            let key = ShardKeys::of(redis, night, shard).sums();
            Command::new("HGETALL").key(key)
        });
        let answers: Vec<HashMap<String, i64>> = redis.read_all(commands.collect()).await?;
        for (&shard, fields) in shards.iter().zip(answers) {
            for ((channel, zone), line) in lines(fields)? {
                sums.add(zone, shard, channel, &line);
            }
        }
    }
    Ok(sums)
}

pub(super) async fn recount(redis: &Redis, night: &Night) -> Result<Sums, StoreError> {
    let mut sums = Sums::default();
    for shard in all_shards(nights::shards(redis, night).await?) {
        for (key, _) in seals::list(redis, night, shard).await? {
            recount_seal(redis, &key, &mut sums).await?;
        }
    }
    Ok(sums)
}

/// So many claims are read at once.
const PIECE: usize = 65_536;
const PIECE_POSITIONS: u32 = 65_536;

async fn recount_seal(redis: &Redis, key: &SealKey, sums: &mut Sums) -> Result<(), StoreError> {
    let Some(seal) = seals::read(redis, key).await? else { return Ok(()) };
    let mut lines: HashMap<(u8, ChannelName), Line> = HashMap::new();
    for (number, piece) in (0u32..).zip(seal.due.chunks(PIECE)) {
        let first = number * PIECE_POSITIONS;
        let positions: Vec<u32> = (first..).take(piece.len()).collect();
        for (due, held) in piece.iter().zip(view::claims(redis, key, &positions).await?) {
            let channel = held.moved.unwrap_or_else(|| seal.channels[usize::from(due.channel)].clone());
            lines.entry((due.zone, channel)).or_default().enter(held.claim);
        }
    }
    for ((zone, channel), line) in lines {
        sums.add(seal.zones[usize::from(zone)].zone, key.shard, channel, &line);
    }
    Ok(())
}

fn lines(fields: HashMap<String, i64>) -> Result<BTreeMap<(ChannelName, Zone), Line>, StoreError> {
    let mut counts = BTreeMap::<_, [u64; COUNTS]>::new();
    for (field, count) in fields {
        let bad = || StoreError::corrupt("sums", format!("{field}: {count}"));
        let (channel, zone, place) = keys::split_count(&field).ok_or_else(bad)?;
        counts.entry((channel, zone)).or_insert([0; COUNTS])[place] =
            u64::try_from(count).map_err(|_| bad())?;
    }
    Ok(counts.into_iter().map(|(line, counts)| (line, counts.into())).collect())
}

fn all_shards(n: Option<ShardCount>) -> Vec<Shard> {
    n.map(|n| Shard::all(n).collect()).unwrap_or_default()
}
