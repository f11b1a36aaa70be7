//! A dead letter as it lies in the broker: the first half of the input as headers, the rest as the message.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| job_queue::fuzzing::dead_letter(bytes));
