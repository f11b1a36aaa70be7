//! What the fuzz targets reach of the decoders of stored bytes; not built otherwise.

use crate::children;

/// The messages that a batch left to be published. Ends the program where what was read is not written as it was.
pub fn pending(bytes: &[u8]) {
    if let Ok(messages) = children::unpack(bytes) {
        assert_eq!(children::unpack(&children::pack(&messages)).ok(), Some(messages));
    }
}
