//! A user's record as the directory keeps it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| directory::fuzzing::record(bytes));
