//! What the fuzz targets reach of the decoders of stored bytes; not built otherwise.

use domain::Uid;

use crate::{
    Page,
    record::{self, Decoder},
};

/// A page, by rows. Ends the program where a row that was read is not one.
pub fn page(bytes: &[u8]) {
    if let Ok(rows) = Page::new(0, bytes.to_vec()).rows() {
        assert!(rows.windows(2).all(|pair| pair[0].uid != pair[1].uid), "a user twice");
    }
}

/// A user's record. Ends the program where what was read is not written as it was.
pub fn record(bytes: &[u8]) {
    if let Ok(user) = Decoder::default().decode(Uid(1001), bytes) {
        assert_eq!(Decoder::default().decode(Uid(1001), &record::encode(&user)).ok(), Some(user));
    }
}
