//! What the fuzz targets reach of the decoders of stored bytes; not built otherwise.

use domain::{Instant, Night, SealKey, Shard};

use crate::{redis::log, seal};

/// A seal. Ends the program where what was read is not written as it was.
pub fn seal(bytes: &[u8]) {
    let shard = bytes.last().map_or(0, |&last| u32::from(last % 4));
    if let Ok(read) = seal::decode(bytes, shard) {
        assert_eq!(seal::decode(&seal::encode(&read), shard).ok(), Some(read));
    }
}

/// The chunks of a batch in the log.
pub fn worked(bytes: &[u8]) {
    let (Ok(campaign), Ok(day)) = ("nightly".parse(), "20260607".parse()) else { return };
    let night = Night { campaign, day };
    let seal = SealKey { night, shard: Shard(0), instant: Instant::UNIX_EPOCH };
    let _ = log::times(bytes, &seal, 7);
}
