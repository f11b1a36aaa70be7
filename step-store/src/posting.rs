//! The bytes of a posting, version 1, `n` an unsigned LEB128 varint: the version (u8), then for each page that changed
//!
//! ```text
//! day       n          as 20260607
//! first     n          the uid from which those below count
//! changes   n          how many, each: uid less `first` (n); 0 where the user was erased, else the steps and 1 (n)
//! ```

use bytes::Bytes;
use domain::{Day, Uid};
use plumbing::{StoreError, varint};

/// The version, in front of what [`put_changes`] makes.
pub(crate) const VERSION: u8 = 1;

/// Numbers that changed in one step of the store, in the form in which they are kept and sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting(Bytes);

/// The number of a user's `Day` after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The user.
    pub uid: Uid,
    /// The `Day`.
    pub day: Day,
    /// The number; `None` where the user was erased.
    pub steps: Option<u32>,
}

impl Posting {
    /// A posting from its bytes, which are looked at when it is decoded.
    pub fn new(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// What changed, in order: of two of one user's `Day` the later holds.
    pub fn decode(&self) -> Result<Vec<Changed>, StoreError> {
        read(&self.0).ok_or_else(|| StoreError::corrupt("a posting of the step store", "its form is wrong"))
    }
}

/// Writes changes of a `Day` whose uids are at or above `first`; nothing where there is none.
pub(crate) fn put_changes(to: &mut Vec<u8>, day: Day, first: Uid, changes: &[(Uid, Option<u32>)]) {
    if changes.is_empty() {
        return;
    }
    [u64::from(day.number()), first.0, changes.len() as u64].into_iter().for_each(|n| varint::put(to, n));
    for (uid, steps) in changes {
        varint::put(to, uid.0.saturating_sub(first.0));
        varint::put(to, steps.map_or(0, |steps| u64::from(steps) + 1));
    }
}

fn read(bytes: &[u8]) -> Option<Vec<Changed>> {
    let (&version, mut from) = bytes.split_first()?;
    if version != VERSION {
        return None;
    }
    let from = &mut from;
    let mut all = Vec::new();
    while !from.is_empty() {
        let day = Day::from_number(u32::try_from(take(from)?).ok()?)?;
        let first = take(from)?;
        for _ in 0..take(from)? {
            let uid = Uid(first.checked_add(take(from)?)?);
            let steps = take(from)?.checked_sub(1).map(u32::try_from).transpose().ok()?;
            all.push(Changed { uid, day, steps });
        }
    }
    Some(all)
}

fn take(from: &mut &[u8]) -> Option<u64> {
    varint::take(from).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_decoded() {
        let (one, two): (Day, Day) = ("20260607".parse().unwrap(), "20260608".parse().unwrap());
        let mut bytes = vec![VERSION];
        put_changes(&mut bytes, one, Uid(64), &[(Uid(64), Some(0)), (Uid(95), Some(200_000))]);
        put_changes(&mut bytes, one, Uid(0), &[]);
        put_changes(&mut bytes, two, Uid(u64::MAX - 1), &[(Uid(u64::MAX), None)]);
        let of = |uid, day, steps| Changed { uid: Uid(uid), day, steps };
        let wanted = [of(64, one, Some(0)), of(95, one, Some(200_000)), of(u64::MAX, two, None)];
        assert_eq!(Posting::new(bytes.into()).decode().unwrap(), wanted);
    }

    #[test]
    fn what_is_no_posting_is_refused() {
        let mut good = vec![VERSION];
        put_changes(&mut good, Day::FIRST, Uid(5), &[(Uid(7), Some(300)), (Uid(8), Some(1))]);
        for end in (0..good.len()).filter(|end| *end != 1) {
            assert!(Posting::new(good[..end].to_vec().into()).decode().is_err(), "{end}");
        }
        for bad in [&[2][..], &[1, 1, 0, 0], &[1, 0xff, 0xff, 0xff]] {
            assert!(Posting::new(bad.to_vec().into()).decode().is_err(), "{bad:?}");
        }
    }
}
