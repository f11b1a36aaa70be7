//! A message of the queue: whatever decodes is encoded to a batch that decodes to the same.
#![no_main]

use job_queue::encoding::{check, decode, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(batch) = decode(bytes) else { return };
    assert_eq!(check(&batch), Ok(()), "a batch that was read is refused");
    assert_eq!(decode(&encode(&batch)).as_ref(), Ok(&batch));
});
