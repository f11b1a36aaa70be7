//! What every engine behind the step store's port promises. The checks know the port alone; each engine's file runs
//! them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod adding;
mod embedded;
mod engine;
mod keeping;
mod model;
mod redis;
