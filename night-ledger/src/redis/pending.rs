//! What works on a batch left to be published: in one field a batch, of each owner the last it left.

use domain::{BatchId, SealKey};
use plumbing::{Command, Redis, StoreError};

use super::{
    keys::{self, SealKeys},
    scripts,
};

/// What the works on a batch left, each as it was handed in.
pub(super) async fn pending(
    redis: &Redis,
    key: &SealKey,
    batch: BatchId,
) -> Result<Vec<Vec<u8>>, StoreError> {
    let (_, SealKeys { pending, .. }) = keys::of_seal(redis, key);
    let left: Option<Vec<u8>> =
        redis.read(Command::new("HGET").key(&pending).arg(&keys::batch(batch)[..])).await?;
    apart(&left.unwrap_or_default())
}

/// Takes off what is equal to `bytes`.
pub(super) async fn published(
    redis: &Redis,
    key: &SealKey,
    batch: BatchId,
    bytes: &[u8],
) -> Result<(), StoreError> {
    let (_, SealKeys { pending, .. }) = keys::of_seal(redis, key);
    let command = scripts::PUBLISHED.call(&[&pending]).arg(&keys::batch(batch)[..]).arg(bytes);
    redis.write::<u64>(command).await.map(drop)
}

/// Bytes of an owner in an entry.
const OWNER: usize = 8;
/// Digits of the length in an entry.
const LENGTH: usize = 10;

/// The entries of a field: each the owner, the length in decimal digits, and as many bytes.
fn apart(mut from: &[u8]) -> Result<Vec<Vec<u8>>, StoreError> {
    let bad = || StoreError::corrupt("pending", "an entry ends early");
    let mut all = Vec::new();
    while !from.is_empty() {
        let (head, rest) = from.split_at_checked(OWNER + LENGTH).ok_or_else(bad)?;
        let digits = std::str::from_utf8(&head[OWNER..]).ok().and_then(|digits| digits.parse().ok());
        let (bytes, rest) = digits.and_then(|length: usize| rest.split_at_checked(length)).ok_or_else(bad)?;
        all.push(bytes.to_vec());
        from = rest;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_comes_apart_and_a_broken_one_is_told() {
        assert_eq!(apart(b"").unwrap(), Vec::<Vec<u8>>::new());
        let field = b"\0\0\0\0\0\0\0\x010000000002ab\0\0\0\0\0\0\0\x020000000000";
        assert_eq!(apart(field).unwrap(), [b"ab".to_vec(), Vec::new()]);
        for end in [1, 17, 19, field.len() - 1] {
            apart(&field[..end]).unwrap_err();
        }
        apart(b"\0\0\0\0\0\0\0\x01000000000xab").unwrap_err();
    }
}
