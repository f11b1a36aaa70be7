use crate::{MOST_REPORTS, PARTS, StoreError};

/// The most bytes of postings that a part keeps; the oldest beyond it are dropped.
pub(crate) const MOST_OUTBOX: u64 = 1 << 20;

/// How long after an erasure reports of that user are refused, in seconds.
pub(crate) const ERASED_FOR: u64 = 60;

pub(crate) fn check_reports(count: usize) -> Result<(), StoreError> {
    if count > MOST_REPORTS {
        return Err(StoreError::Full { what: "a call of reports", limit: MOST_REPORTS as u64 });
    }
    Ok(())
}

pub(crate) fn check_part(part: u32) -> Result<(), StoreError> {
    if part >= PARTS {
        return Err(StoreError::Full { what: "the parts of the step store", limit: PARTS.into() });
    }
    Ok(())
}
