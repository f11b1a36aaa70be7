use chrono::TimeDelta;
use domain::{Day, Instant};

use super::{Column, Kind};
use crate::{
    Page, StoreError,
    page::{body::Line, names::Names},
};

/// How far back an opting in or a move is kept: nights are sealed at most 14 days after their deadline, and that may be
/// two days after their hour.
const KEPT: TimeDelta = TimeDelta::days(17);

/// What is too old to be kept.
#[derive(Clone, Copy)]
pub(super) struct Horizon {
    pub(super) minute: u32,
    day: u32,
}

impl Horizon {
    pub(super) fn at(now: Instant) -> Self {
        let at = now.checked_sub_signed(KEPT).unwrap_or(Instant::UNIX_EPOCH);
        let minute = u32::try_from(at.timestamp().div_euclid(60)).unwrap_or(0);
        Self { minute, day: Day::of(at.date_naive()).map_or(0, Day::number) }
    }
}

impl Column {
    /// The rows of a page, numbered as the column numbers them.
    pub(super) fn lines(&mut self, page: &Page, horizon: Horizon) -> Result<Vec<Line>, StoreError> {
        let view = page.view()?;
        let zones: Vec<_> = view.names.zones.iter().map(|zone| self.tables.zone(*zone)).collect();
        let kinds = self.number_kinds(&view.names)?;
        // the page was checked: its numbers are in its tables
        let look = |table: &[u32], number| {
            usize::try_from(number).ok().and_then(|place| table.get(place)).copied().unwrap_or_default()
        };
        let line = |line: Line| Line {
            key: line.key,
            zone: look(&zones, line.zone),
            kind: look(&kinds, line.kind),
            due_from: if line.due_from <= horizon.minute {
                0
            } else {
                line.due_from.saturating_sub(self.epoch).max(1)
            },
            moved: line
                .moved
                .filter(|(_, last)| *last >= horizon.day)
                .map(|(zone, last)| (look(&zones, zone), last)),
        };
        Ok(view.body.map(line).collect())
    }

    fn number_kinds(&mut self, names: &Names) -> Result<Vec<u32>, StoreError> {
        let kind = |(consent, bits): &(bool, u16)| {
            let mut channels: Vec<_> = names.channels_of(*bits).cloned().collect();
            channels.sort_unstable();
            self.tables.kind(Kind { consent: *consent, channels })
        };
        names.kinds.iter().map(kind).collect()
    }
}
