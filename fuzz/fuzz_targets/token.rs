//! A user token.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut keys = directory::TokenKeys::default();
    let _ = keys.add("a", &[7; 32]);
    // nobody makes one without the secret
    assert!(keys.user(text, domain::Instant::UNIX_EPOCH).is_err());
});
