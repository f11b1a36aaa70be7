//! What every engine of the step store promises.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "all of this is tests, their helpers included"
)]

mod embedded;
mod engine;
mod freezing;
mod ids;
mod keeping;
mod model;
mod outbox;
mod racing;
mod redis;
mod reporting;
