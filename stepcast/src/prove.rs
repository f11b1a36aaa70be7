//! The proof of a night: what a provider received, held against what the ledger says, uid by uid.

mod count;
mod difference;
mod judge;
mod lines;
mod receipt;

pub(crate) use count::{Count, Received};
pub(crate) use difference::{Difference, Kind};
pub(crate) use judge::judge;
pub(crate) use lines::open;
pub(crate) use receipt::read_receipt;
