//! A line of receipts, and a file of them, gzip or not.
#![no_main]
#![allow(dead_code)]

use libfuzzer_sys::fuzz_target;

// the program is no library: its files stand in here
#[path = "../../stepcast/src/prove/receipt.rs"]
mod receipt;

fuzz_target!(|bytes: &[u8]| {
    for line in bytes.split(|&b| b == b'\n') {
        let _ = receipt::read_receipt(line);
    }
});
