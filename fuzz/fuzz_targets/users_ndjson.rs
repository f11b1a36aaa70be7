//! A file of users to import, NDJSON, plain or gzip.
#![no_main]

use std::io::Cursor;

use directory::{Format, UserRows};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(rows) = UserRows::open(Box::new(Cursor::new(bytes.to_vec())), Format::Ndjson) {
        rows.for_each(drop);
    }
});
