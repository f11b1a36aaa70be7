//! What every engine behind the ledger's port promises. The checks know the port alone; each engine's file runs them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "tests")]

mod closing;
mod embedded;
mod engine;
mod large;
mod leases;
mod nights;
mod pieces;
mod racing;
mod random;
mod redis;
mod rig;
mod seals;
mod steps;
