use domain::Uid;

use super::{Column, row::Row};
use crate::{Home, PARTS, page::place};

impl Column {
    /// Where the `Day`s of a user are; `None` of one who is not in it, or whose page could not be read when it was last changed.
    /// A move is told while it may still matter.
    pub fn user(&self, uid: Uid) -> Option<Home> {
        let (page, key) = (place::page_of(uid), place::key_of(uid));
        let part = self.parts.get(usize::try_from(page % PARTS).ok()?)?;
        if self.unreadable.contains_key(&page) {
            return None;
        }
        // in the order of their keys
        let line = part.page(page)?.take_while(|line| line.key <= key).find(|line| line.key == key)?;
        let row = Row::of(page, line, self.epoch, &self.tables);
        Some(Home { zone: *self.zones().get(usize::from(row.zone))?, moved: row.moved })
    }
}
