//! The interface as callers meet it, over the embedded stores: no server, no port.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "all of this is tests, their helpers included"
)]

mod access;
mod counting;
mod days;
mod people;
mod rig;
mod rubbish;
