//! The night by many processes over real servers, and what goes wrong with those: each fault made on purpose, each night
//! ending in its proof.

mod brakes;
mod broker;
mod cluster;
mod long;
mod network;
mod poison;
mod redis;
mod schedulers;
mod senders;
mod setting;
pub(crate) mod shared_broker;
mod stage;
