//! The log of chunks that were worked: a field for each batch and attempt (16 bytes, big-endian, and a byte), its value the
//! chunks one after the other. A chunk is when it was pushed (signed varint: milliseconds after the seal's instant), then the
//! positions that were booked, as runs with their length in bytes (a varint) before them. Most take 8 bytes.

use domain::{BatchId, Instant, SealKey};
use plumbing::{StoreError, varint};

use crate::{fields::Reader, runs::Runs};

/// Appends a chunk.
pub(super) fn put(to: &mut Vec<u8>, seal: &SealKey, at: Instant, booked: &Runs) {
    let mut runs = Vec::new();
    booked.encode(&mut runs);
    varint::put_signed(to, at.timestamp_millis() - seal.instant.timestamp_millis());
    varint::put(to, runs.len() as u64);
    to.extend(runs);
}

/// The batch and the attempt of a field.
pub(super) fn batch(field: &[u8]) -> Result<(BatchId, u8), StoreError> {
    let parts = field.split_first_chunk();
    match parts {
        Some((batch, &[attempt])) => Ok((BatchId(u128::from_be_bytes(*batch)), attempt)),
        _ => Err(StoreError::corrupt("worked", format!("{field:?}"))),
    }
}

/// When the chunks of a value were pushed that have this position.
pub(crate) fn times(chunks: &[u8], seal: &SealKey, position: u32) -> Result<Vec<Instant>, StoreError> {
    let (mut from, mut times) = (Reader::new("worked", chunks), Vec::new());
    while !from.done() {
        let millis = seal.instant.timestamp_millis().checked_add(from.signed()?);
        let at = millis.and_then(Instant::from_timestamp_millis);
        let at = at.ok_or_else(|| from.bad("an instant is out of range"))?;
        if Runs::decode(&mut from.part()?)?.contains(position) {
            times.push(at);
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use domain::{Night, Shard};
    use proptest::prelude::*;

    use super::*;

    fn seal() -> SealKey {
        let night = Night { campaign: "nightly".parse().unwrap(), day: "20260607".parse().unwrap() };
        SealKey { night, shard: Shard(0), instant: Instant::from_timestamp(1_780_862_400, 0).unwrap() }
    }

    #[test]
    fn a_chunk_takes_few_bytes_and_is_found_by_its_users() {
        let after = |millis| seal().instant + chrono::TimeDelta::milliseconds(millis);
        let mut log = Vec::new();
        put(&mut log, &seal(), after(37_250), &Runs::of(15_000..15_100));
        assert_eq!(log.len(), 7);
        put(&mut log, &seal(), after(-3), &Runs::of([15_020, 15_100]));
        assert_eq!(times(&log, &seal(), 15_020).unwrap(), [after(37_250), after(-3)]);
        assert_eq!(times(&log, &seal(), 15_099).unwrap(), [after(37_250)]);
        assert!(times(&log, &seal(), 14_999).unwrap().is_empty());
        assert!(times(&log[..log.len() - 1], &seal(), 1).is_err());
    }

    #[test]
    fn a_field_names_batch_and_attempt() {
        let mut field = vec![0; 15];
        field.extend([9, 2]);
        assert_eq!(batch(&field).unwrap(), (BatchId(9), 2));
        assert!(batch(&field[1..]).is_err() && batch(&[0; 18]).is_err());
    }

    proptest! {
        #[test]
        fn never_panics_on_rubbish(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = times(&bytes, &seal(), 7);
            let _ = batch(&bytes);
        }
    }
}
