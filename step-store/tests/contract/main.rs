//! What every engine behind the step store's port promises. The checks know the port alone; each engine's file runs
//! them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod counting;
mod damage;
mod embedded;
mod engine;
mod erasing;
mod feed;
mod freezing;
mod keeping;
mod lineage;
mod model;
mod racing;
mod redis;
mod repeats;
mod sources;
