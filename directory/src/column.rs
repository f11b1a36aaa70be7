//! What a scheduler keeps of the directory in memory.

mod follow;
mod part;
mod row;
mod tables;
mod translate;
mod user;

use std::collections::BTreeMap;

use domain::Zone;

pub use self::{
    follow::Refreshed,
    row::Row,
    tables::{Kind, MOST_KINDS},
};
use self::{part::Part, tables::Tables};
use crate::{PARTS, StoreError, page::body};

/// Zone, channels and consent of every user, loaded once and then followed by the change log: a byte or two a user where
/// uids are dense, seven where they are random. What is too old to matter to a night that may still be sealed (14 days
/// back) is not kept: when someone opted in, and where they lived before a move.
pub struct Column {
    parts: Vec<Part>,
    tables: Tables,
    /// The minute since 1970 that `due_from` is kept relative to; 0 before the first load.
    epoch: u32,
    loaded: bool,
    users: u64,
    /// Pages that could not be read when they were last changed.
    unreadable: BTreeMap<u32, StoreError>,
    /// So many kinds say that most of them may be gone, and that it is time to load anew.
    stale_at: usize,
}

impl Default for Column {
    fn default() -> Self {
        let parts = (0..PARTS).map(|_| Part::default()).collect();
        Self {
            parts,
            tables: Tables::default(),
            epoch: 0,
            loaded: false,
            users: 0,
            unreadable: BTreeMap::new(),
            stale_at: usize::MAX,
        }
    }
}

impl Column {
    /// Whether it was ever loaded whole; before that it lacks users.
    pub fn loaded(&self) -> bool {
        self.loaded
    }

    /// How many users are in it.
    pub fn users(&self) -> u64 {
        self.users
    }

    /// The pages that could not be read when they were last changed, by number, each with its error. Their rows are those of
    /// before, or none.
    pub fn unreadable(&self) -> impl Iterator<Item = (u32, &StoreError)> {
        self.unreadable.iter().map(|(number, error)| (*number, error))
    }

    /// How many bytes of memory it takes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.parts.iter().map(Part::memory).sum::<usize>() + self.tables.memory()
    }

    /// The zones that [`Row::zone`] counts. They keep their places until the column is loaded anew, which a refresh may
    /// do: look them up after each.
    pub fn zones(&self) -> &[Zone] {
        self.tables.zones()
    }

    /// The kinds that [`Row::kind`] counts, as [`Column::zones`] has it.
    pub fn kinds(&self) -> &[Kind] {
        self.tables.kinds()
    }

    /// Every zone in which some user is, or was before a move that may still matter, with the number of users in it now.
    pub fn population(&self) -> impl Iterator<Item = (Zone, u64)> + '_ {
        self.tables.population()
    }

    /// All rows, blocks of 256 neighbouring uids together, otherwise in no order.
    pub fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        let pages = self.parts.iter().zip(0..).flat_map(|(part, number)| part.pages(number));
        pages.flat_map(move |(page, body)| body.map(move |line| self.row(page, line)))
    }

    /// Hands over all rows as [`Column::rows`] has them, in the quickest way.
    pub fn each(&self, mut take: impl FnMut(Row)) {
        for (part, number) in self.parts.iter().zip(0..) {
            for (page, body) in part.pages(number) {
                for line in body {
                    take(self.row(page, line));
                }
            }
        }
    }

    #[inline]
    fn row(&self, page: u32, line: body::Line) -> Row {
        Row::of(page, line, self.epoch, &self.tables)
    }
}
