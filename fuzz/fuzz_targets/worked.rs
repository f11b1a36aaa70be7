//! The chunks of a batch in the ledger's log.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| night_ledger::fuzzing::worked(bytes));
