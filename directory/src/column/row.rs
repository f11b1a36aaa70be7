use domain::{Day, Instant, Uid};

use super::tables::Tables;
use crate::{
    Moved,
    page::{body::Line, place},
};

/// A user, as a column has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Who.
    pub uid: Uid,
    /// Their zone, once a move has taken hold: a place in [`Column::zones`](super::Column::zones).
    pub zone: u16,
    /// Consent and channels: a place in [`Column::kinds`](super::Column::kinds).
    pub kind: u16,
    /// Since when they want the push, in minutes since 1970, rounded up; 0 when it is too long ago to matter.
    pub due_from: u32,
    /// Their last move from another zone, if it may still matter.
    pub moved: Option<Moved>,
}

impl Row {
    #[inline]
    pub(super) fn of(page: u32, line: Line, epoch: u32, tables: &Tables) -> Self {
        Self {
            uid: place::uid_at(page, line.key),
            zone: u16::try_from(line.zone).unwrap_or(u16::MAX),
            kind: u16::try_from(line.kind).unwrap_or(u16::MAX),
            due_from: if line.due_from == 0 { 0 } else { line.due_from.saturating_add(epoch) },
            moved: line.moved.and_then(|moved| moved_of(moved, tables)),
        }
    }

    /// Whether they wanted the push already at an instant, which must be a whole minute.
    pub fn due_at(&self, instant: Instant) -> bool {
        i64::from(self.due_from) <= instant.timestamp().div_euclid(60)
    }
}

#[cold]
fn moved_of((zone, last): (u32, u32), tables: &Tables) -> Option<Moved> {
    let from = *tables.zones().get(usize::try_from(zone).ok()?)?;
    Some(Moved { from, last: Day::from_number(last)? })
}
