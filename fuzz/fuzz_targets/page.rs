//! A page of the directory, by rows and in a column.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| directory::fuzzing::page(bytes));
