use crate::{MOST_PAGES, PARTS, StoreError, log::part_of, page::place::PAGES};

/// The most changes one call may hold.
const MOST_CHANGES: usize = 10_000;

/// Whether a call may hold so many changes.
pub(crate) fn check_changes(count: usize) -> Result<(), StoreError> {
    within(count, MOST_CHANGES, "a call that changes the directory")
}

/// Whether a call may ask for these pages of a part.
pub(crate) fn check_pages(part: u32, numbers: &[u32]) -> Result<(), StoreError> {
    within(numbers.len(), MOST_PAGES, "a call that reads pages of the directory")?;
    match numbers.iter().find(|number| part >= PARTS || **number >= PAGES || part_of(**number) != part) {
        Some(number) => {
            let detail = format!("page {number} is not in part {part}");
            Err(StoreError::corrupt("a call that reads pages of the directory", detail))
        }
        None => Ok(()),
    }
}

fn within(count: usize, most: usize, what: &'static str) -> Result<(), StoreError> {
    if count <= most { Ok(()) } else { Err(StoreError::Full { what, limit: most as u64 }) }
}
