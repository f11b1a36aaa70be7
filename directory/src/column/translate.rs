use super::{Column, Kind};
use crate::{
    Page, StoreError,
    horizon::Horizon,
    page::{body::Line, names::Names},
};

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
            due_from: match horizon.due_from(line.due_from) {
                0 => 0,
                minute => minute.saturating_sub(self.epoch).max(1),
            },
            moved: line
                .moved
                .filter(|(_, last)| horizon.reaches(*last))
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
