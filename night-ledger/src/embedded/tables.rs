//! The ledger's tables and keys. Every key of a night starts with the campaign, a zero byte and the day's number
//! (u32, big-endian); a shard's goes on with the shard (u32), a seal's with the instant (Unix seconds, u64).

use domain::{CampaignName, ChannelName, Day, Instant, Night, SealKey, Shard, Zone};
use plumbing::{
    FileError,
    redb::{TableDefinition, WriteTransaction},
};

type Bytes = &'static [u8];

/// campaign, zero byte, cron line -> when it was first seen, in Unix milliseconds
pub(super) const FIRST_SEEN: TableDefinition<'_, &str, i64> = TableDefinition::new("ledger.first_seen");
/// night -> its shard count
pub(super) const NIGHTS: TableDefinition<'_, Bytes, u32> = TableDefinition::new("ledger.nights");
/// shard -> (owner or 0 for nobody, epoch)
pub(super) const SHARD_LEASES: TableDefinition<'_, u32, (u64, u64)> =
    TableDefinition::new("ledger.shard_leases");
/// night, and the name of a zone or nothing for all of it -> the number of the brake
pub(super) const BRAKES: TableDefinition<'_, Bytes, u8> = TableDefinition::new("ledger.brakes");
/// night, shard -> the highest epoch seen
pub(super) const EPOCHS: TableDefinition<'_, Bytes, u64> = TableDefinition::new("ledger.epochs");
/// night, shard, zone name -> the instant it is sealed at, in Unix seconds
pub(super) const ZONES: TableDefinition<'_, Bytes, i64> = TableDefinition::new("ledger.zones");
/// seal -> its bytes, as `seal::encoding` has them
pub(super) const SEALS: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("ledger.seals");
/// seal -> (batches confirmed, closed, latest deadline in Unix seconds)
pub(super) const PROGRESS: TableDefinition<'_, Bytes, (u32, bool, i64)> =
    TableDefinition::new("ledger.progress");
/// seal, sheet (u32) -> the claims of up to 1,024 neighbouring positions, a byte each
pub(super) const CLAIMS: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("ledger.claims");
/// seal, channel, zero byte, zone -> counts, u64 little-endian each: due, open, delivered, duplicates, the reasons
pub(super) const SUMS: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("ledger.sums");
/// seal, position (u32) -> the channel it was moved to
pub(super) const MOVED: TableDefinition<'_, Bytes, &str> = TableDefinition::new("ledger.moved");
/// seal, batch (u128), owner (u64) -> what has to be published before the batch may be acknowledged
pub(super) const PENDING: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("ledger.pending");
/// seal, when (Unix milliseconds, u64), batch (u128), first position (u32) -> attempt, then the positions as varints
pub(super) const WORKED: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("ledger.worked");

/// Makes the tables that are missing.
pub(super) fn make(to: &WriteTransaction) -> Result<(), FileError> {
    to.open_table(FIRST_SEEN)?;
    to.open_table(NIGHTS)?;
    to.open_table(SHARD_LEASES)?;
    to.open_table(BRAKES)?;
    to.open_table(EPOCHS)?;
    to.open_table(ZONES)?;
    to.open_table(SEALS)?;
    to.open_table(PROGRESS)?;
    to.open_table(CLAIMS)?;
    to.open_table(SUMS)?;
    to.open_table(MOVED)?;
    to.open_table(PENDING)?;
    to.open_table(WORKED)?;
    Ok(())
}

/// Takes everything of these nights out.
pub(super) fn drop_nights(to: &WriteTransaction, nights: &[Vec<u8>]) -> Result<(), FileError> {
    macro_rules! drop_from {
        ($($table:ident)*) => {$(
            let mut table = to.open_table($table)?;
            for night in nights {
                let end = after(night);
                table.retain_in::<&[u8], _>(&night[..]..&end[..], |_, _| false)?;
            }
        )*};
    }
    drop_from!(NIGHTS BRAKES EPOCHS ZONES SEALS PROGRESS CLAIMS SUMS MOVED PENDING WORKED);
    Ok(())
}

pub(super) fn night(night: &Night) -> Vec<u8> {
    let mut key = night.campaign.as_str().as_bytes().to_vec();
    key.push(0);
    key.extend(night.day.number().to_be_bytes());
    key
}

pub(super) fn night_shard(of: &Night, shard: Shard) -> Vec<u8> {
    let mut key = night(of);
    key.extend(shard.0.to_be_bytes());
    key
}

pub(super) fn seal(of: &SealKey) -> Vec<u8> {
    let mut key = night_shard(&of.night, of.shard);
    key.extend(of.instant.timestamp().unsigned_abs().to_be_bytes());
    key
}

pub(super) fn with(mut key: Vec<u8>, tail: &[u8]) -> Vec<u8> {
    key.extend(tail);
    key
}

pub(super) fn sums(seal: &[u8], channel: &ChannelName, zone: Zone) -> Vec<u8> {
    [seal, channel.as_str().as_bytes(), &[0], zone.name().as_bytes()].concat()
}

/// The end of the range of keys that start with `prefix`.
pub(super) fn after(prefix: &[u8]) -> Vec<u8> {
    // no prefix used here ends in a byte that cannot be raised after the campaign's zero byte
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            break;
        }
    }
    end
}

/// The night at the front of a key, and what follows it.
pub(super) fn split_night(key: &[u8]) -> Option<(Night, &[u8])> {
    let zero = key.iter().position(|&b| b == 0)?;
    let campaign: CampaignName = std::str::from_utf8(&key[..zero]).ok()?.parse().ok()?;
    let (day, rest) = key[zero + 1..].split_first_chunk()?;
    let day = Day::from_number(u32::from_be_bytes(*day))?;
    Some((Night { campaign, day }, rest))
}

/// The seal at the front of a key, and what follows it.
pub(super) fn split_seal(key: &[u8]) -> Result<(SealKey, &[u8]), FileError> {
    let parts = || {
        let (night, rest) = split_night(key)?;
        let (shard, rest) = rest.split_first_chunk()?;
        let (instant, rest) = rest.split_first_chunk()?;
        let seconds = i64::try_from(u64::from_be_bytes(*instant)).ok()?;
        let instant = Instant::from_timestamp(seconds, 0)?;
        Some((SealKey { night, shard: Shard(u32::from_be_bytes(*shard)), instant }, rest))
    };
    parts().ok_or_else(|| FileError::entry("ledger key", format!("{key:?}")))
}

/// Channel and zone of a key of [`SUMS`], behind the seal.
pub(super) fn split_sums(rest: &[u8]) -> Result<(ChannelName, Zone), FileError> {
    let parts = || {
        let (channel, zone) = std::str::from_utf8(rest).ok()?.split_once('\0')?;
        Some((channel.parse().ok()?, zone.parse().ok()?))
    };
    parts().ok_or_else(|| FileError::entry("sums key", format!("{rest:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_apart_as_they_were_put_together() {
        let key = SealKey {
            night: Night { campaign: "nightly".parse().unwrap(), day: "20260607".parse().unwrap() },
            shard: Shard(3),
            instant: Instant::from_timestamp(1_780_000_000, 0).unwrap(),
        };
        let (channel, zone): (ChannelName, Zone) =
            ("stub".parse().unwrap(), "Europe/Berlin".parse().unwrap());
        let whole = sums(&seal(&key), &channel, zone);
        let (back, rest) = split_seal(&whole).unwrap();
        assert_eq!(back, key);
        assert_eq!(split_sums(rest).unwrap(), (channel, zone));
        assert!(after(&seal(&key)) > whole && seal(&key) < whole);
    }

    #[test]
    fn a_campaign_whose_name_begins_another_is_apart() {
        let night_of =
            |campaign: &str| Night { campaign: campaign.parse().unwrap(), day: "20260607".parse().unwrap() };
        let (short, long) = (night(&night_of("night")), night(&night_of("nightly")));
        assert!(!(short.clone()..after(&short)).contains(&long));
    }
}
