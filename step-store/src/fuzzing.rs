//! What the fuzz targets reach of the decoders of stored bytes; not built otherwise.

use domain::Uid;

use crate::{
    Posting,
    page::{self, Page},
};

/// A page. Ends the program where what was read is not written as it was, or one user's number is another by the short way.
pub fn page(bytes: &[u8]) {
    let Ok(read) = Page::decode(bytes) else {
        // the short way may see less of what is wrong, and must end too
        let _ = page::number(bytes, Uid(17));
        return;
    };
    for (uid, number) in read.numbers(0) {
        assert_eq!(page::number(bytes, uid), Ok(number));
    }
    let again = Page::decode(&read.encode());
    let entries = |page: &Page| (0..32).map(|uid| page.entry(Uid(uid))).collect::<Vec<_>>();
    assert_eq!(again.as_ref().map(entries), Ok(entries(&read)));
}

/// A posting.
pub fn posting(bytes: &[u8]) {
    let _ = Posting::new(bytes.to_vec().into()).decode();
}
