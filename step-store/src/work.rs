//! What reports make of pages: the rules of the spec, the same for every engine.

mod learnt;
#[cfg(test)]
mod tests;
mod unit;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use domain::{Day, Uid};

pub(crate) use self::{
    learnt::Learnt,
    unit::{Unit, units},
};
use crate::{
    Amount, Kind, MOST_SOURCES, MOST_STEPS, Refusal, Report, ReportId, Reported,
    ids::{Epoch, MOST_IDS},
    page::Page,
};

/// A raise by one report of more than this marks its source as jumped.
const JUMP: u32 = 20_000;

/// The pages of a unit by `Day`, as they stand; `None` for one that cannot be read.
pub(crate) type Pages = BTreeMap<Day, Option<Page>>;

/// What a unit's reports make of its pages. It holds only if nothing else is found when it is written.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// One for each report.
    pub(crate) answers: Vec<Reported>,
    /// The pages that change.
    pub(crate) pages: BTreeMap<Day, Page>,
    /// Ids that are stored, by user and the epoch of their `Day`.
    pub(crate) ids: BTreeMap<(Uid, Epoch), Vec<ReportId>>,
    /// Users with a report that is stored.
    pub(crate) users: BTreeSet<Uid>,
    /// When the first of the stored reports' `Day`s freezes, in ms since 1970.
    pub(crate) freezes: Option<i64>,
    /// Numbers that change.
    pub(crate) changes: BTreeMap<Day, Vec<(Uid, Option<u32>)>>,
}

/// Works out a unit on its pages, by what is known besides.
pub(crate) fn work(unit: &Unit, mut pages: Pages, learnt: &Learnt) -> Work {
    let mut work = Work::default();
    let (mut kept, mut numbers) = (HashSet::new(), BTreeMap::new());
    for (_, report) in &unit.reports {
        let Some(page) = pages.entry(report.day).or_insert_with(|| Some(Page::default())) else {
            work.answers.push(Reported::Refused(Refusal::Unreadable));
            continue;
        };
        let before = page.number(report.uid);
        let room = work.ids.get(&(report.uid, Epoch::of(report.day))).map_or(0, Vec::len);
        let repeat = report.id.is_some_and(|id| kept.contains(&(report.uid, id)));
        let answer = if repeat { Reported::Repeat(before) } else { take(page, report, learnt, room) };
        if let Reported::Stored(_) = answer {
            numbers.entry((report.day, report.uid)).or_insert(before);
            kept.extend(report.id.map(|id| (report.uid, id)));
            work.store(report);
        }
        work.answers.push(answer);
    }
    for ((day, uid), before) in numbers {
        let Some(Some(page)) = pages.get(&day) else { continue };
        let after = page.number(uid);
        if after != before {
            work.changes.entry(day).or_default().push((uid, Some(after)));
        }
        work.pages.entry(day).or_insert_with(|| page.clone());
    }
    work
}

impl Work {
    fn store(&mut self, report: &Report) {
        if let Some(id) = report.id {
            self.ids.entry((report.uid, Epoch::of(report.day))).or_default().push(id);
        }
        self.users.insert(report.uid);
        let freezes = report.freezes.timestamp_millis();
        self.freezes = Some(self.freezes.map_or(freezes, |first| first.min(freezes)));
    }
}

/// Takes one report into its page, where so many of its user's ids are to be added already; `Stored` where the page has it.
fn take(page: &mut Page, report: &Report, learnt: &Learnt, adding: usize) -> Reported {
    let Report { uid, source, .. } = report;
    if learnt.erased.contains(uid) {
        return Reported::Refused(Refusal::Erased);
    }
    if report.id.is_some_and(|id| learnt.known.contains(&(*uid, id))) {
        return Reported::Repeat(page.number(*uid));
    }
    if learnt.frozen.is_some_and(|frozen| report.freezes.timestamp_millis() <= frozen) {
        return Reported::Refused(Refusal::TooLate);
    }
    let held = page.mark(*uid, source);
    let kind = match report.amount {
        Amount::Add(_) => Kind::Increments,
        Amount::Total(_) => Kind::Totals,
    };
    if held.is_some_and(|held| held.kind != kind) {
        return Reported::Refused(Refusal::MixedKind);
    }
    if held.is_none() && page.sources(*uid) >= MOST_SOURCES {
        return Reported::Refused(Refusal::TooManySources);
    }
    let before = held.map_or(0, |held| held.total);
    let after = match report.amount {
        Amount::Add(steps) => before.saturating_add(steps),
        Amount::Total(total) if held.is_some() && total <= before => {
            return Reported::Repeat(page.number(*uid));
        }
        Amount::Total(total) => total,
    };
    if after > MOST_STEPS {
        return Reported::Refused(Refusal::TooMany);
    }
    if report.id.is_some() && learnt.ids(*uid, report.day) + adding >= MOST_IDS {
        return Reported::Refused(Refusal::TooManyReports);
    }
    let jumped = after - before > JUMP || held.is_some_and(|held| held.jumped);
    page.set(*uid, source, kind, after, jumped);
    Reported::Stored(page.number(*uid))
}
