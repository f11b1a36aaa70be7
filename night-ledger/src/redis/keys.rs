//! The ledger's keys, and the fields of its hashes. Three kinds of tags: a night's shard (`n.<campaign>.<day>.<shard>`), the
//! list of nights (`nights`), and the leases on shards (`shards`). What changes together has one tag.

use domain::{BatchId, ChannelName, Night, SealKey, Shard, Zone};
use plumbing::Redis;

use crate::{Group, sums::COUNTS};

/// Seconds after which what is left of a night goes by itself. It is forgotten long before.
pub(super) const TIME_TO_LIVE: u64 = 21 * 24 * 3_600;

/// The keys of a night's shard.
pub(super) struct ShardKeys {
    redis: Redis,
    tag: String,
}

impl ShardKeys {
    pub(super) fn of(redis: &Redis, night: &Night, shard: Shard) -> Self {
        Self { redis: redis.clone(), tag: format!("n.{}.{}.{shard}", night.campaign, night.day) }
    }

    /// Hash: zone -> the instant it is sealed at, in Unix seconds.
    pub(super) fn zones(&self) -> String {
        self.redis.key(&self.tag, "zones")
    }

    /// Hash: `epoch` -> the highest epoch seen; by instant `b<seconds>` -> batches confirmed, `c<seconds>` -> its end (0 open,
    /// 1 being closed, 2 closed), `d<seconds>` -> its latest deadline in Unix seconds.
    pub(super) fn progress(&self) -> String {
        self.redis.key(&self.tag, "progress")
    }

    /// Hash: [`count`] -> how many.
    pub(super) fn sums(&self) -> String {
        self.redis.key(&self.tag, "sums")
    }

    pub(super) fn seal(&self, seconds: i64) -> SealKeys {
        let key = |kind: &str| self.redis.key(&self.tag, format_args!("{kind}:{seconds}"));
        SealKeys {
            seal: key("seal"),
            claims: key("claims"),
            moved: key("moved"),
            channels: key("channels"),
            pending: key("pending"),
            worked: key("worked"),
            leases: key("leases"),
        }
    }
}

/// The keys of one seal.
pub(super) struct SealKeys {
    /// String: the seal as `seal::encoding` has it.
    pub(super) seal: String,
    /// Hash: number of a block of [`BLOCK`] positions -> its claims as runs: a zero byte (which is no claim), then for each run
    /// the claim and how many have it, less 1 (a byte). Where that would be longer than [`BLOCK`] bytes, its claims, a byte each.
    /// A block with fewer positions, as the last one may be, takes up to two bytes a position and the zero byte, and no more
    /// than [`BLOCK`] either.
    pub(super) claims: String,
    /// String, as long as all blocks of claims, only there when somebody was moved: the number of the channel by position,
    /// 0 for who was not moved.
    pub(super) moved: String,
    /// Hash: channel -> its number in `moved`, from 1.
    pub(super) channels: String,
    /// Hash: batch (16 bytes, big-endian) -> what has to be published before it may be acknowledged.
    pub(super) pending: String,
    /// Hash: batch (16 bytes, big-endian) and attempt (a byte) -> its chunks that were worked, as `log` has them.
    pub(super) worked: String,
    /// Hash: batch (16 bytes) -> its lease: owner (8 bytes), when it ends by the server's clock (Unix ms, 13 digits), runs of
    /// the positions it covers; and `t<block>` -> how often claims that nobody held were judged in a block.
    pub(super) leases: String,
}

/// The keys of a seal and of its night's shard.
pub(super) fn of_seal(redis: &Redis, key: &SealKey) -> (ShardKeys, SealKeys) {
    let shard = ShardKeys::of(redis, &key.night, key.shard);
    let seal = shard.seal(key.instant.timestamp());
    (shard, seal)
}

/// Hash: night -> its shard count.
pub(super) fn nights(redis: &Redis) -> String {
    redis.key("nights", "n")
}

/// Hash: campaign, a space, cron line -> when it was first seen, in Unix milliseconds.
pub(super) fn first_seen(redis: &Redis) -> String {
    redis.key("nights", "first_seen")
}

/// Hash: zone, or nothing for the night as a whole -> the number of the brake.
pub(super) fn brakes(redis: &Redis, night: &Night) -> String {
    redis.key("nights", format_args!("brakes:{}:{}", night.campaign, night.day))
}

/// Hash: shard -> owner, epoch and when the lease ends by the server's clock (Unix ms), with colons between; owner 0 is nobody.
pub(super) fn shard_leases(redis: &Redis) -> String {
    redis.key("shards", "leases")
}

/// Sorted set: member -> when it lapses by the server's clock (Unix ms).
pub(super) fn members(redis: &Redis, group: Group) -> String {
    let group = match group {
        Group::Schedulers => "schedulers",
        Group::Senders => "senders",
    };
    redis.key("shards", format_args!("members:{group}"))
}

/// The field of a count in the sums: channel, zone and the place of the count in a line.
pub(super) fn count(channel: &ChannelName, zone: Zone, place: usize) -> String {
    format!("{channel}|{zone}|{place}")
}

/// Channel, zone and place of a field of the sums.
pub(super) fn split_count(field: &str) -> Option<(ChannelName, Zone, usize)> {
    let (channel, rest) = field.split_once('|')?;
    let (zone, place) = rest.rsplit_once('|')?;
    let place = place.parse().ok().filter(|&place| place < COUNTS)?;
    Some((channel.parse().ok()?, zone.parse().ok()?, place))
}

/// A batch in a hash.
pub(super) fn batch(id: BatchId) -> [u8; 16] {
    id.0.to_be_bytes()
}

/// Positions of a block of claims; the scripts have the same number.
pub(super) const BLOCK: u32 = 1_000;

/// The field of a position's turns: they are counted by block, so that steps far apart do not meet.
pub(super) fn turns(position: u32) -> String {
    format!("t{}", position / BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_have_the_same_blocks() {
        let block = format!("\nlocal BLOCK = {BLOCK}\n");
        assert!(include_str!("lua/claims.lua").contains(&block));
    }

    #[test]
    fn a_field_of_the_sums_comes_apart_as_it_was_put_together() {
        let zone: Zone = "America/Argentina/Buenos_Aires".parse().unwrap();
        let channel: ChannelName = "web-push".parse().unwrap();
        assert_eq!(split_count(&count(&channel, zone, 17)), Some((channel, zone, 17)));
        for bad in
            ["", "stub|Europe/Berlin", "stub|Mars/Phobos|1", "stub|Europe/Berlin|18", "stub|Europe/Berlin|-1"]
        {
            assert_eq!(split_count(bad), None, "{bad}");
        }
    }
}
