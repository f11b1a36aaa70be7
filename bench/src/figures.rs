//! Whole numbers made into figures for people to read.
#![allow(clippy::cast_precision_loss, reason = "nobody reads sixteen digits")]

/// So many in so many seconds.
pub(crate) fn rate(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds
}

/// So many for each of those.
pub(crate) fn per(count: u64, each: u64) -> f64 {
    count as f64 / each as f64
}
