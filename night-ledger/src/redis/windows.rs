//! Positions as windows on the blocks of the claims: what lies in one block is read and written at once.

use std::ops::Range;

use plumbing::{Command, StoreError};

use super::keys::BLOCK;
use crate::Claim;

/// Ascending positions, grouped by block.
pub(super) struct Windows<'a> {
    positions: &'a [u32],
    windows: Vec<Range<usize>>,
}

impl<'a> Windows<'a> {
    /// Groups `positions`, which ascend.
    pub(super) fn of(positions: &'a [u32]) -> Self {
        let mut windows = Vec::new();
        let mut from = 0;
        for window in positions.chunk_by(|a, b| a / BLOCK == b / BLOCK) {
            windows.push(from..from + window.len());
            from += window.len();
        }
        Self { positions, windows }
    }

    /// First and last position of each.
    pub(super) fn bounds(&self) -> impl Iterator<Item = (u32, u32)> {
        self.windows.iter().map(|window| (self.positions[window.start], self.positions[window.end - 1]))
    }

    /// Appends the windows with the claims that are expected at the positions and what they become, as `windows.lua` reads
    /// them.
    pub(super) fn put(&self, mut command: Command, old: &[Claim], now: &[Claim]) -> Command {
        let bytes = |claims: &[Claim]| claims.iter().map(|claim| claim.byte()).collect::<Vec<u8>>();
        let (old, now) = (bytes(old), bytes(now));
        command = command.arg(self.windows.len());
        for (window, (first, last)) in self.windows.iter().zip(self.bounds()) {
            let pieces = self.positions[window.clone()].chunk_by(|a, b| b - a == 1);
            command = command.arg(first).arg(last).arg(pieces.clone().count());
            let mut at = window.start;
            for piece in pieces {
                let places = at..at + piece.len();
                command = command.arg(piece[0] - first + 1).arg(&old[places.clone()]).arg(&now[places]);
                at += piece.len();
            }
        }
        command
    }

    /// The claims at the positions, out of the bytes of each window.
    pub(super) fn claims(&self, held: &[Vec<u8>]) -> Result<Vec<Claim>, StoreError> {
        let claims = self.pick(held).map(|(position, byte)| {
            let absent = || StoreError::corrupt("claim", format!("there is no position {position}"));
            let byte = byte.ok_or_else(absent)?;
            let bad = || StoreError::corrupt("claim", format!("{byte:#x} at position {position}"));
            Claim::from_byte(byte).ok_or_else(bad)
        });
        claims.collect()
    }

    /// The positions, each with what is there in the bytes of its window, if they reach so far.
    pub(super) fn pick(&self, held: &[Vec<u8>]) -> impl Iterator<Item = (u32, Option<u8>)> {
        self.windows.iter().zip(self.bounds()).enumerate().flat_map(move |(number, (window, (first, _)))| {
            let bytes = held.get(number);
            self.positions[window.clone()].iter().map(move |&position| {
                let place = usize::try_from(position - first).unwrap_or(usize::MAX);
                (position, bytes.and_then(|bytes| bytes.get(place)).copied())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_one_block_shares_a_window() {
        let positions = [3, 4, 5, 9, 1_999, 2_000, 10_000];
        let windows = Windows::of(&positions);
        assert_eq!(
            windows.bounds().collect::<Vec<_>>(),
            [(3, 9), (1_999, 1_999), (2_000, 2_000), (10_000, 10_000)]
        );
        let held = [vec![0, 1, 2, 3, 4, 5, 6], vec![7], vec![8], vec![9]];
        let picked: Vec<_> = windows.pick(&held).map(|(_, byte)| byte.unwrap()).collect();
        assert_eq!(picked, [0, 1, 2, 6, 7, 8, 9]);
        assert_eq!(windows.pick(&held[..3]).last(), Some((10_000, None)));
        assert!(windows.claims(&held).is_err(), "a zero is no claim");
        assert_eq!(Windows::of(&[]).bounds().count(), 0);
    }
}
