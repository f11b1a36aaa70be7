use crate::page::{self, BadPage, Page};
use domain::Uid;

/// How many bytes of a value are its revision.
const REVISION: usize = 4;

/// The revision of a value as it stands in the store; all of one that is too short to have a page.
pub(super) fn revision(held: Option<&[u8]>) -> &[u8] {
    held.map_or(&[], |held| held.split_at_checked(REVISION).map_or(held, |(revision, _)| revision))
}

/// The value of a page after one of this revision. Each write has another, also of a page that nobody is in any more.
pub(super) fn next(revision: &[u8], page: &Page) -> Vec<u8> {
    let held = revision.try_into().map_or(0, u32::from_le_bytes);
    let mut to = held.wrapping_add(1).to_le_bytes().to_vec();
    to.extend(page.encode());
    to
}

/// The page of a value.
pub(super) fn page(held: &[u8]) -> Result<Page, BadPage> {
    Page::decode(bytes(held))
}

/// The number of one user in a value.
pub(super) fn number(held: &[u8], uid: Uid) -> Result<u32, BadPage> {
    page::number(bytes(held), uid)
}

fn bytes(held: &[u8]) -> &[u8] {
    held.get(REVISION..).unwrap_or(&[])
}
