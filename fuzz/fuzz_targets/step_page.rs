//! A page of the step store, whole and by the short way to one number.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| step_store::fuzzing::page(bytes));
