//! The bytes of a [`Batch`], about 1.1 KB for 1,000 users with dense uids.
//!
//! The first byte is the version. Versions [`OLDEST`] to [`NEWEST`] are read, the newest is written: once there is a
//! second one, senders of two releases can share a queue during a rolling upgrade.
//!
//! A *varint* is an unsigned LEB128 number (seven bits a byte, the lowest first, the top bit set on all bytes but the
//! last; the shortest form only). A *signed* is a varint of the zig-zag form (0, -1, 1, -2 ... become 0, 1, 2, 3 ...).
//! A *text* is one byte of length and that many bytes of UTF-8. Version 1 is, in this order:
//!
//! | field | form | range |
//! | --- | --- | --- |
//! | version | 1 byte | 1 |
//! | count | varint | users, 1 to 1,000 |
//! | id | 16 bytes | the batch's id, big-endian |
//! | campaign | text | a campaign name |
//! | day | varint | `20260607` as a number |
//! | shard | varint | 32 bits |
//! | instant | signed | Unix time in seconds |
//! | slot | varint | 32 bits |
//! | channel | text | a channel name |
//! | attempt | 1 byte | 1 to 15 |
//! | flags | 1 byte | bit 0: `not before` follows; bit 1: the positions are contiguous; the rest 0 |
//! | not before | signed | Unix time in milliseconds; only with bit 0 |
//! | zones | varint | number of zones, 1 to 256 |
//! | each zone | text, signed | tzdata name; its deadline in seconds after the instant |
//! | first uid | varint | 64 bits |
//! | stride | varint | only with more than one user: a common divisor of the steps between uids, at least 1 |
//! | each further uid | varint | (uid - the one before) / stride, at least 1 |
//! | first position | varint | 32 bits |
//! | each further position | varint | position - the one before, at least 1; absent with bit 1 |
//! | each zone index | 1 byte | below the number of zones; absent with only one zone |
//!
//! Nothing follows. The uids of one shard are equal modulo N, so that the stride takes the factor N out of the steps:
//! most of them then fit one byte.

mod check;
mod malformed;
mod reader;
mod v1;

pub use check::{MOST_ATTEMPT, MOST_ZONES, check};
pub use malformed::Malformed;
use reader::Reader;

use crate::{Batch, StoreError};

/// The oldest version that is read.
pub const OLDEST: u8 = 1;
/// The newest version that is read, and the one that is written.
pub const NEWEST: u8 = 1;

/// The bytes of a batch, the same each time for the same batch. Times are cut to what [`Batch`] says of each. A batch
/// that [`check()`] refuses has bytes too, but [`decode`] need not give it back.
pub fn encode(batch: &Batch) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128 + 2 * batch.entries.len());
    bytes.push(NEWEST);
    v1::write(batch, &mut bytes);
    bytes
}

/// The batch of some bytes, whatever they are: memory stays within a small multiple of their length.
pub fn decode(bytes: &[u8]) -> Result<Batch, Malformed> {
    let (version, mut rest) = open(bytes)?;
    let batch = match version {
        Version::One => v1::read(&mut rest)?,
    };
    match rest.left() {
        0 => check(&batch).map(|()| batch),
        left => Err(Malformed::Trailing(left)),
    }
}

/// How many users a message has, read from its first bytes alone.
pub fn count(bytes: &[u8]) -> Result<usize, Malformed> {
    let (version, mut rest) = open(bytes)?;
    match version {
        Version::One => v1::count(&mut rest),
    }
}

/// The bytes of a batch that consumers will be able to read.
pub(crate) fn sound(batch: &Batch) -> Result<Vec<u8>, StoreError> {
    check(batch).map_err(|e| StoreError::corrupt("batch", format!("{}: {e}", batch.id)))?;
    Ok(encode(batch))
}

enum Version {
    One,
}

fn open(bytes: &[u8]) -> Result<(Version, Reader<'_>), Malformed> {
    let (&version, rest) = bytes.split_first().ok_or(Malformed::Empty)?;
    let version = match version {
        1 => Version::One,
        old if old < OLDEST => return Err(Malformed::TooOld(old)),
        new => return Err(Malformed::TooNew(new)),
    };
    Ok((version, Reader::new(rest)))
}

#[cfg(test)]
mod tests;
