//! The directory's pages: what a scheduler must know of each user, for a few hundred neighbours together. A page stands
//! beside their records and changes with them.
//!
//! The bytes of a page, version 2, `n` an unsigned LEB128 varint, `text` a length in bytes (`n`) and UTF-8:
//!
//! ```text
//! version   u8         2
//! stamp     u64        little-endian; another one with each write of the page or of a record in it
//! zones     n          how many, then their numbers (`Zone::number`), which rise: the first, then of each further one the
//!                      distance from the one before less 1 (n)
//! channels  n          how many, at most 16, then each as text
//! kinds     n          how many, then each: its channels as bits, times 2, plus 1 for consent (n)
//! rows                 as `body` has them
//! ```
//!
//! `due_from` is kept in whole minutes, rounded up: the hour of a night is a whole minute, so nothing changes for who is
//! due at it. What is older than a night that may still be sealed (`horizon`) is 0, in all rows of a page that is written for
//! one of them; the record keeps the exact instant.

mod bad;
mod bits;
pub(crate) mod body;
mod keys;
pub(crate) mod names;
mod numbers;
pub(crate) mod place;
pub(crate) mod sheet;

use domain::{ChannelName, Instant, Uid, Zone};
use plumbing::StoreError;

use self::{
    bad::{BadPage, take_bytes},
    body::{Body, Known},
    names::Names,
};
use crate::Moved;

/// The most channels on which the users of one page may have devices.
pub const MOST_CHANNELS: u16 = 16;

const VERSION: u8 = 2;
/// The version and the stamp.
const HEAD: usize = 9;

/// A page as a store holds it: users who stand near each other, in a compact form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    number: u32,
    bytes: Vec<u8>,
}

/// What a scheduler knows of one user. Every user is listed, those without consent or a device as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterRow {
    /// Who.
    pub uid: Uid,
    /// Their zone, once a move has taken hold.
    pub zone: Zone,
    /// Their last move from another zone.
    pub moved: Option<Moved>,
    /// Whether they want the push.
    pub consent: bool,
    /// Since when they do, up to the next whole minute: who opts in after a seal is due the next night. 1970 stands for too
    /// long ago to matter to a night that may still be sealed.
    pub due_from: Instant,
    /// The channels on which they have a device, each once.
    pub channels: Vec<ChannelName>,
}

impl Page {
    /// A page of this number from its bytes, which are looked at when it is read.
    pub fn new(number: u32, bytes: Vec<u8>) -> Self {
        Self { number, bytes }
    }

    /// The number of the page that a user is in.
    #[inline]
    pub fn number_of(uid: Uid) -> u32 {
        place::page_of(uid)
    }

    /// Its number, below 65,536.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How many bytes it takes in the store.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Its rows, blocks of 256 neighbouring uids together.
    pub fn rows(&self) -> Result<Vec<RosterRow>, StoreError> {
        let view = self.view()?;
        let names = view.names;
        let row = |line: body::Line| {
            let (consent, bits) = names.kind(line.kind)?;
            Some(RosterRow {
                uid: place::uid_at(self.number, line.key),
                zone: names.zone(line.zone)?,
                moved: match line.moved {
                    Some(moved) => Some(names.moved(moved)?),
                    None => None,
                },
                consent,
                due_from: Instant::from_timestamp(i64::from(line.due_from) * 60, 0)?,
                channels: names.channels_of(bits).cloned().collect(),
            })
        };
        let rows: Option<_> = view.body.map(row).collect();
        rows.ok_or_else(|| bad(self.number, &BadPage::Field("a row stands for nothing")))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The page with this stamp.
    pub(crate) fn stamped(mut self, stamp: u64) -> Self {
        if let Some(place) = self.bytes.get_mut(1..HEAD) {
            place.copy_from_slice(&stamp.to_le_bytes());
        }
        self
    }

    pub(crate) fn view(&self) -> Result<View<'_>, StoreError> {
        View::read(&self.bytes).map_err(|why| bad(self.number, &why))
    }
}

/// A page that is being read.
pub(crate) struct View<'a> {
    pub(crate) stamp: u64,
    pub(crate) names: Names,
    pub(crate) body: Body<'a>,
}

impl<'a> View<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, BadPage> {
        let mut from = bytes;
        match take_bytes(&mut from, 1)?[0] {
            VERSION => {}
            other => return Err(BadPage::Version(other)),
        }
        let stamp = stamp(bytes).ok_or(BadPage::Truncated)?;
        take_bytes(&mut from, HEAD - 1)?;
        let names = Names::take(&mut from)?;
        let body = Body::take(&mut from, Known { zones: names.zones.len(), kinds: names.kinds.len() })?;
        if from.is_empty() { Ok(Self { stamp, names, body }) } else { Err(BadPage::Trailing(from.len())) }
    }
}

/// The stamp of a page's bytes.
fn stamp(page: &[u8]) -> Option<u64> {
    page.get(1..HEAD)?.first_chunk().map(|stamp| u64::from_le_bytes(*stamp))
}

pub(crate) fn bad(number: u32, why: &dyn std::fmt::Display) -> StoreError {
    StoreError::corrupt("a page of the directory", format!("page {number}: {why}"))
}

#[cfg(test)]
#[path = "page/tests.rs"]
mod tests;
