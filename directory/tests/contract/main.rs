//! What every engine behind the directory's port promises. The checks know the port alone; each engine's file runs them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod changes;
mod column;
mod devices;
mod embedded;
mod engine;
mod following;
mod limits;
mod load;
mod patches;
mod redis;
mod rosters;
