//! A message of the change feed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(message) = job_queue::FeedMessage::decode(bytes.to_vec()) {
        assert_eq!(job_queue::FeedMessage::decode(message.encode()).ok(), Some(message));
    }
});
