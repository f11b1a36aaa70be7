use chrono::TimeDelta;
use domain::{Day, Instant, Zone};

use crate::Moved;

/// Where a user's days are: their zone and their last move. It tells which `Day` an instant is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// Their zone, once a move has taken hold.
    pub zone: Zone,
    /// Their last move from another zone.
    pub moved: Option<Moved>,
}

/// A user's `Day`: what they walk from its beginning until its end counts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserDay {
    /// Which.
    pub day: Day,
    /// The zone that holds for it.
    pub zone: Zone,
    /// Its first instant. After a move the first `Day` of the new zone begins where the last of the old one ended.
    pub begins: Instant,
    /// The first instant after it.
    pub ends: Instant,
}

/// How long before its beginning a `Day` is open, and how long after its end it still is (spec, the day, window).
const AHEAD: TimeDelta = TimeDelta::minutes(2);
const AFTER: TimeDelta = TimeDelta::minutes(5);

/// The most dates in a row that never were in a zone, and more.
const SKIPPED: usize = 4;

impl Home {
    /// The zone that holds for the user on `day`.
    pub fn zone_on(&self, day: Day) -> Zone {
        match self.moved {
            Some(moved) if day <= moved.last => moved.from,
            _ => self.zone,
        }
    }

    /// The `Day` that an instant is in: exactly one for each instant, and no instant is in two. `None` at the ends of the
    /// years that a `Day` can have.
    ///
    /// A move holds from the next day start of the old zone. What the new zone would still count on a `Day` that was the old
    /// one's, as it lies west of it, is of the `Day` that follows; a `Day` that it is already past has never been.
    pub fn day_at(&self, at: Instant) -> Option<UserDay> {
        let Some(moved) = self.moved else { return whole(self.zone, self.zone.day_at(at)) };
        let holds = moved.holds_from()?;
        if at < holds {
            // of the old zone, and so at most its last `Day`
            return whole(moved.from, moved.from.day_at(at));
        }
        let first = self.first_day(moved, holds)?;
        let day = self.zone.day_at(at).max(first);
        let whole = whole(self.zone, day)?;
        Some(UserDay { begins: if day == first { holds } else { whole.begins }, ..whole })
    }

    /// The first `Day` in the new zone.
    fn first_day(&self, moved: Moved, holds: Instant) -> Option<Day> {
        let from = self.zone.day_at(holds).max(moved.last.next());
        std::iter::successors(Some(from), |day| Some(day.next()))
            .take(SKIPPED)
            .find(|day| self.zone.edges(*day).is_some())
    }
}

impl UserDay {
    /// From here on reports for it are taken.
    pub fn opens(&self) -> Instant {
        self.begins - AHEAD
    }

    /// From here on it is read-only.
    pub fn freezes(&self) -> Instant {
        self.ends + AFTER
    }

    /// Whether an instant is in it.
    pub fn contains(&self, at: Instant) -> bool {
        (self.begins..self.ends).contains(&at)
    }
}

fn whole(zone: Zone, day: Day) -> Option<UserDay> {
    let edges = zone.edges(day)?;
    Some(UserDay { day, zone, begins: edges.begins, ends: edges.ends })
}

#[cfg(test)]
mod tests;
