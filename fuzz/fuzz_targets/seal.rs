//! A seal as the ledger keeps it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| night_ledger::fuzzing::seal(bytes));
