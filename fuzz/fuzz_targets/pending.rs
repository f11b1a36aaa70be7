//! The messages that a batch left behind in the ledger to be published.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| sender::fuzzing::pending(bytes));
