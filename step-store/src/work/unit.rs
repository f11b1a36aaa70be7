use std::collections::{BTreeMap, BTreeSet};

use domain::{Day, Uid};

use crate::{Report, ReportId, page::Page, part};

/// The reports for the users of one page, over all `Day`s, in their order. They are written whole or not at all, so that a
/// user's reports keep their order, and an id that two of them have is stored once.
#[derive(Debug)]
pub(crate) struct Unit {
    /// The number of the page.
    pub(crate) page: u64,
    /// With their places in the call.
    pub(crate) reports: Vec<(usize, Report)>,
}

/// The reports of a call by page.
pub(crate) fn units(reports: Vec<Report>) -> Vec<Unit> {
    let mut pages = BTreeMap::<_, Vec<_>>::new();
    for one in reports.into_iter().enumerate() {
        pages.entry(Page::number_of(one.1.uid)).or_default().push(one);
    }
    pages.into_iter().map(|(page, reports)| Unit { page, reports }).collect()
}

impl Unit {
    /// The part that the page is in.
    pub(crate) fn part(&self) -> u32 {
        part(Page::first(self.page))
    }

    /// The `Day`s that are reported for.
    pub(crate) fn days(&self) -> BTreeSet<Day> {
        self.reports.iter().map(|(_, report)| report.day).collect()
    }

    /// The ids of the reports, by user and `Day`.
    pub(crate) fn ids(&self) -> BTreeMap<(Uid, Day), Vec<ReportId>> {
        let mut ids = BTreeMap::<_, Vec<_>>::new();
        for (_, report) in &self.reports {
            if let Some(id) = report.id {
                ids.entry((report.uid, report.day)).or_default().push(id);
            }
        }
        ids
    }
}
