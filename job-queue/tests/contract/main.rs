//! What every engine behind the queue's port promises. The checks know the port alone; each engine's file runs them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod delivery;
mod embedded;
mod engine;
mod feed;
mod keeping;
mod ladder;
mod load;
mod rabbitmq;
