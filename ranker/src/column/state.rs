use std::time::{Duration, Instant as RealInstant};

use step_store::Position;

/// Whether a copy has everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// What the store had two seconds ago is in it.
    Current,
    /// It may lack something.
    Behind {
        /// In how many parts it is known to; 0 where it only has not been compared lately.
        parts: u32,
    },
}

/// How far a part was followed.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The number of the last posting that is in it, and the lineage it is of; `None` before it was read.
    pub(super) at: Option<Position>,
    /// The digest of that posting's bytes, where it was heard.
    pub(super) digest: Option<u64>,
    /// A number that the store had, and since when it is waited for.
    owed: Option<(u64, RealInstant)>,
    /// How long the last such number took.
    pub(super) lag: Option<Duration>,
}

/// What a comparison with the store says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// It goes on.
    Sound,
    /// The store went back, or another took over, or it was never read.
    Astray,
}

impl State {
    /// A state as of a reading.
    pub(super) fn read(at: Position) -> Self {
        Self { at: Some(at), ..Self::default() }
    }

    /// That a posting is in it now.
    pub(super) fn heard(&mut self, number: u64, digest: u64, now: RealInstant) {
        if let Some(at) = &mut self.at {
            at.last = number;
        }
        self.digest = Some(digest);
        if let Some((_, since)) = self.owed.filter(|(owed, _)| number >= *owed) {
            self.lag = Some(now - since);
            self.owed = None;
        }
    }

    /// Holds it against the store's position.
    pub(super) fn compare(&mut self, with: Position, now: RealInstant) -> Compared {
        match self.at {
            Some(at) if at.lineage == with.lineage && at.last <= with.last => {
                if at.last < with.last {
                    self.owed = self.owed.or(Some((with.last, now)));
                }
                Compared::Sound
            }
            _ => Compared::Astray,
        }
    }

    pub(super) fn is_current(&self, now: RealInstant, behind: Duration) -> bool {
        self.at.is_some() && self.owed.is_none_or(|(_, since)| now - since <= behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(lineage: u64, last: u64) -> Position {
        Position { lineage, last }
    }

    #[test]
    fn it_is_behind_while_a_number_is_owed_for_too_long() {
        let (start, limit) = (RealInstant::now(), Duration::from_secs(2));
        let mut state = State::default();
        assert!(!state.is_current(start, limit));
        assert_eq!(state.compare(at(1, 0), start), Compared::Astray);
        state = State::read(at(1, 5));
        assert_eq!(state.compare(at(1, 8), start), Compared::Sound);
        let later = start + Duration::from_secs(3);
        assert!(state.is_current(start + limit, limit) && !state.is_current(later, limit));
        // a later comparison does not begin the wait anew
        assert_eq!(state.compare(at(1, 9), later), Compared::Sound);
        state.heard(7, 0, later);
        assert!(!state.is_current(later, limit));
        state.heard(8, 0, later);
        assert!(state.is_current(later, limit));
        assert_eq!(state.lag, Some(Duration::from_secs(3)));
        for astray in [at(1, 7), at(2, 9)] {
            assert_eq!(state.compare(astray, later), Compared::Astray);
        }
    }
}
