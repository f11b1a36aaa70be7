//! A configuration file.
#![no_main]

use std::{cell::RefCell, io::Write as _};

use config::Config;
use libfuzzer_sys::fuzz_target;
use tempfile::NamedTempFile;

thread_local! {
    static FILE: RefCell<NamedTempFile> = RefCell::new(NamedTempFile::with_suffix(".toml").unwrap());
}

fuzz_target!(|bytes: &[u8]| {
    FILE.with_borrow_mut(|file| {
        let path = file.path().to_owned();
        let mut writer = std::fs::File::create(&path).unwrap();
        writer.write_all(bytes).unwrap();
        match Config::load(Some(&path), []) {
            // every value is shown, secrets hidden, and nothing ends the program
            Ok(config) => drop(format!("{config:?}")),
            Err(faults) => drop(faults.to_string()),
        }
    });
});
