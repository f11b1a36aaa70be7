use std::collections::VecDeque;

use chrono::NaiveTime;
use serde::Serialize;

use crate::{CronLine, Day, Edges, Fire, Instant, Zone, fire};

mod turn;
mod verdict;

pub use turn::Turn;
use turn::turn;
pub use verdict::{AuditFault, AuditVerdict};

/// What a campaign does in one zone on one `Day`, with what is needed to judge it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditRow {
    /// The zone.
    pub zone: Zone,
    /// The calendar date.
    pub day: Day,
    /// When the date begins, ends and freezes; `None` where it never was in the zone.
    pub edges: Option<Edges>,
    /// What [`fire`] says of the date.
    pub fires: Option<Fire>,
    /// How many instants of [`fire`], whichever `Day` it gave them for, lie in the date's turn: from the instant at
    /// which the zone's clock reaches the line's time on this date to that of the next date.
    pub count: usize,
    /// Whether the line selects the date.
    pub selected: bool,
    /// When the clock reaches the line's time on this date, found by walking the zone's offsets; `None` where the clock
    /// never shows the date.
    pub turn: Option<Turn>,
}

/// Works out, zone by zone, `days` calendar dates from `from` on, as they are asked for. Whether a date fires exactly
/// once is established apart from [`fire`]: the clock of the zone is walked through its changes of offset, and every
/// instant that [`fire`] gives is dealt to the date whose turn it falls in.
pub fn audit<'a>(
    line: &'a CronLine,
    window: u32,
    zones: impl IntoIterator<Item = Zone> + 'a,
    from: Day,
    days: u32,
) -> impl Iterator<Item = AuditRow> + 'a {
    zones.into_iter().flat_map(move |zone| Rows {
        line,
        window,
        zone,
        day: Some(from).filter(|_| days > 0),
        left: days,
        near: VecDeque::new(),
        known: None,
    })
}

/// The rows of one zone, day by day.
struct Rows<'a> {
    line: &'a CronLine,
    window: u32,
    zone: Zone,
    /// The next date, `None` after the last.
    day: Option<Day>,
    left: u32,
    /// The fires of the date and of the two on either side: an instant given for a neighbour may fall in its turn.
    near: VecDeque<(Day, Option<Fire>)>,
    /// The date whose turn ended the one before, and when the clock reached its midnight and its time.
    known: Option<(Day, Option<Reached>)>,
}

#[derive(Clone, Copy)]
struct Reached {
    midnight: Instant,
    time: Turn,
}

impl Iterator for Rows<'_> {
    type Item = AuditRow;

    fn next(&mut self) -> Option<AuditRow> {
        let day = self.day?;
        self.left -= 1;
        self.day = Some(day.next()).filter(|&next| next > day && self.left > 0);

        self.move_to(day);
        let selected = self.line.wall(day).is_some();
        let fires = self.near.iter().find(|(near, _)| *near == day).and_then(|(_, fire)| *fire);
        let edges = self.zone.edges(day);
        let (reached, next) = (self.reached(day), self.reached(day.next()));
        // A date that never was is one whose midnight is not reached before that of the next.
        let turns = reached.zip(next).filter(|(this, next)| this.midnight < next.midnight);
        let count = turns.map_or(0, |(this, next)| self.within(this.time, next.time));
        let turn = turns.map(|(this, _)| this.time);
        Some(AuditRow { zone: self.zone, day, edges, fires, count, selected, turn })
    }
}

impl Rows<'_> {
    fn move_to(&mut self, day: Day) {
        let (first, last) = (day.previous().previous(), day.next().next());
        self.near.retain(|(near, _)| *near >= first);
        while self.near.back().is_none_or(|(near, _)| *near < last) {
            let next = self.near.back().map_or(first, |(near, _)| near.next());
            self.near.push_back((next, fire(self.line, self.window, self.zone, next)));
        }
    }

    fn reached(&mut self, day: Day) -> Option<Reached> {
        if let Some((known, reached)) = self.known
            && known == day
        {
            return reached;
        }
        let turn = |time| turn(self.zone, day.date().and_time(time));
        let reached = turn(NaiveTime::MIN)
            .zip(turn(self.line.time()))
            .map(|(midnight, time)| Reached { midnight: midnight.at, time });
        self.known = Some((day, reached));
        reached
    }

    fn within(&self, turn: Turn, next: Turn) -> usize {
        let fires = self.near.iter().filter_map(|(_, fire)| *fire);
        fires.filter(|fire| (turn.at..next.at).contains(&fire.at)).count()
    }
}

#[cfg(test)]
mod tests;
