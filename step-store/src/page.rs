//! The bytes of a page: the entries of [`PAGE`] neighbouring uids on one `Day`. Version 1, `n` an unsigned LEB128 varint:
//!
//! ```text
//! version   u8         1
//! sources   n          how many, at most 256, each: its length (u8) and name
//! shapes    u8         how many, each: how many marks (u8), each: the source's place (u8), its flags (u8): 1 for totals,
//!                      2 for a jump
//! users     u32        little-endian: bit i is set where the user with `uid % 32 = i` has an entry
//! rows                 for each of them, by rising uid: the shape's place (u8), then the total of each of its marks (n)
//! ```
//!
//! Neighbours mostly have sources of the same names that count in the same way, so a page keeps each shape once.

mod fast;
mod form;
#[cfg(test)]
mod tests;

use domain::Uid;
use smallvec::SmallVec;

pub(crate) use self::fast::number;
use crate::{Entry, Kind, Source, SourceTotal};

/// How many neighbouring uids share a page. The layout has room for no more: a user is a bit of 32.
const USERS: usize = 32;
const PAGE: u64 = USERS as u64;

/// Bytes that are no page.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub(crate) struct BadPage(&'static str);

/// A page to read and to change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// Names of sources, each once; rows have their places.
    sources: Vec<Source>,
    /// By rising slot.
    rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    /// The user's place in the page.
    slot: u8,
    /// In the order of the first reports.
    marks: SmallVec<[Mark; 2]>,
}

/// What one source has of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Its place among the page's names.
    source: u8,
    /// How it counts.
    pub(crate) kind: Kind,
    /// Its steps.
    pub(crate) total: u32,
    /// Whether one report raised it by too much.
    pub(crate) jumped: bool,
}

impl Page {
    /// The number of the page that a user is in.
    pub(crate) fn number_of(uid: Uid) -> u64 {
        uid.0 / PAGE
    }

    /// The lowest uid of a page.
    pub(crate) fn first(number: u64) -> Uid {
        Uid(number.saturating_mul(PAGE))
    }

    /// A page from its bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, BadPage> {
        form::decode(bytes)
    }

    /// Its bytes; names that no row has any more are left out.
    pub(crate) fn encode(&self) -> Vec<u8> {
        form::encode(self)
    }

    /// What it has of a user.
    pub(crate) fn entry(&self, uid: Uid) -> Option<Entry> {
        let row = self.row(uid)?;
        let sources = row.marks.iter().map(|mark| SourceTotal {
            source: self.sources[usize::from(mark.source)].clone(),
            kind: mark.kind,
            total: mark.total,
            jumped: mark.jumped,
        });
        Some(Entry { sources: sources.collect() })
    }

    /// The number of a user; 0 where there is no entry.
    pub(crate) fn number(&self, uid: Uid) -> u32 {
        self.row(uid).map_or(0, Row::number)
    }

    /// All users of page `number` that have an entry, with their numbers.
    pub(crate) fn numbers(&self, number: u64) -> impl Iterator<Item = (Uid, u32)> {
        let first = Self::first(number).0;
        self.rows.iter().map(move |row| (Uid(first + u64::from(row.slot)), row.number()))
    }

    /// What a source has of a user.
    pub(crate) fn mark(&self, uid: Uid, source: &Source) -> Option<Mark> {
        let marks = &self.row(uid)?.marks;
        marks.iter().find(|mark| self.sources[usize::from(mark.source)] == *source).copied()
    }

    /// How many sources a user has.
    pub(crate) fn sources(&self, uid: Uid) -> usize {
        self.row(uid).map_or(0, |row| row.marks.len())
    }

    /// Writes what a source has of a user.
    pub(crate) fn set(&mut self, uid: Uid, source: &Source, kind: Kind, total: u32, jumped: bool) {
        let place = self.place(source);
        let (slot, mark) = (slot(uid), Mark { source: place, kind, total, jumped });
        let at = match self.rows.binary_search_by_key(&slot, |row| row.slot) {
            Ok(at) => at,
            Err(at) => {
                self.rows.insert(at, Row { slot, marks: SmallVec::new() });
                at
            }
        };
        let marks = &mut self.rows[at].marks;
        match marks.iter_mut().find(|held| held.source == place) {
            Some(held) => *held = mark,
            None => marks.push(mark),
        }
    }

    /// Takes a user out; whether there was an entry.
    pub(crate) fn remove(&mut self, uid: Uid) -> bool {
        let found = self.rows.binary_search_by_key(&slot(uid), |row| row.slot);
        found.map(|at| self.rows.remove(at)).is_ok()
    }

    fn row(&self, uid: Uid) -> Option<&Row> {
        let found = self.rows.binary_search_by_key(&slot(uid), |row| row.slot).ok()?;
        self.rows.get(found)
    }

    /// The place of a name. A page has at most 8 names a user, so that each has a place.
    fn place(&mut self, source: &Source) -> u8 {
        let held = self.sources.iter().position(|held| held == source);
        let place = held.unwrap_or_else(|| {
            if self.sources.len() > usize::from(u8::MAX) {
                self.forget_names();
            }
            self.sources.push(source.clone());
            self.sources.len() - 1
        });
        u8::try_from(place).unwrap_or(u8::MAX)
    }

    /// Leaves out names that no row has.
    fn forget_names(&mut self) {
        let mut kept = Vec::new();
        for mark in self.rows.iter_mut().flat_map(|row| &mut row.marks) {
            let name = &self.sources[usize::from(mark.source)];
            let place = kept.iter().position(|held| held == name).unwrap_or_else(|| {
                kept.push(name.clone());
                kept.len() - 1
            });
            mark.source = u8::try_from(place).unwrap_or(u8::MAX);
        }
        self.sources = kept;
    }
}

impl Row {
    fn number(&self) -> u32 {
        self.marks.iter().map(|mark| mark.total).max().unwrap_or(0)
    }
}

/// The place of a user in their page.
fn slot(uid: Uid) -> u8 {
    u8::try_from(uid.0 % PAGE).unwrap_or(0)
}
