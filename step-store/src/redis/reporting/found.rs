use domain::Uid;

use super::command::Found;
use crate::{ReportId, StoreError};

/// What stands in the way of a write. Sets and pages are told by their places in it.
pub(super) enum Obstacle {
    /// The watermark, in ms since 1970.
    Frozen(i64),
    /// A user was erased a moment ago.
    Erased(Uid),
    /// An id is known.
    Known(usize, ReportId),
    /// A set has so many ids that those to be added do not fit.
    Many(usize, usize),
    /// A page is another one by now: its value, empty where it is gone.
    Stale(usize, Vec<u8>),
}

/// What `report.lua` tells of a unit that it did not write.
pub(super) fn obstacles(found: &Found) -> Result<Vec<Obstacle>, StoreError> {
    let mut words = found.iter();
    let mut all = Vec::new();
    while let Some(kind) = words.next() {
        all.push(one(kind, &mut words).ok_or_else(|| {
            StoreError::corrupt("an answer of the step store's script", "a word of it is not known")
        })?);
    }
    Ok(all)
}

fn one<'a>(kind: &[u8], words: &mut impl Iterator<Item = &'a Vec<u8>>) -> Option<Obstacle> {
    let mut next = || words.next();
    Some(match kind {
        b"f" => Obstacle::Frozen(number(next()?)?),
        b"e" => Obstacle::Erased(Uid(number(next()?)?)),
        b"k" => Obstacle::Known(place(next()?)?, ReportId(number::<i64>(next()?)?.cast_unsigned())),
        b"c" => Obstacle::Many(place(next()?)?, number(next()?)?),
        b"p" => Obstacle::Stale(place(next()?)?, next()?.clone()),
        _ => return None,
    })
}

fn number<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// Places count from 1 there.
fn place(word: &[u8]) -> Option<usize> {
    number::<usize>(word)?.checked_sub(1)
}
