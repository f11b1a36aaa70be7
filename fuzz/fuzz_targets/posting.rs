//! A posting of changed totals.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| step_store::fuzzing::posting(bytes));
