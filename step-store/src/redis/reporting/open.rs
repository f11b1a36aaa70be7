use std::collections::{BTreeMap, BTreeSet, HashSet};

use domain::{Day, Uid};

use super::{
    command::{Found, IdSet, Writing},
    found::{Obstacle, obstacles},
};
use crate::{
    Refusal, ReportId, Reported, StoreError,
    page::Page,
    redis::reading::split,
    work::{Learnt, Pages, Unit, Work, work},
};

/// Reports for one page that have no answers yet.
pub(super) struct Open {
    unit: Unit,
    pages: Pages,
    revisions: BTreeMap<Day, u32>,
    learnt: Learnt,
    work: Work,
    sets: Vec<IdSet>,
    /// Ids of which it is known whether they are known.
    asked: HashSet<(Uid, ReportId)>,
    /// When the first `Day` freezes of a report that is stored, or would not be told that it is too late.
    freezes: Option<i64>,
}

impl Open {
    pub(super) fn new(unit: Unit) -> Self {
        let (pages, revisions, learnt) = (Pages::new(), BTreeMap::new(), Learnt::default());
        let (work, sets, asked) = (Work::default(), Vec::new(), HashSet::new());
        Self { unit, pages, revisions, learnt, work, sets, asked, freezes: None }
    }

    pub(super) fn number(&self) -> u64 {
        self.unit.page
    }

    pub(super) fn part(&self) -> u32 {
        self.unit.part()
    }

    pub(super) fn days(&self) -> BTreeSet<Day> {
        self.unit.days()
    }

    /// Takes its pages out of those that were read.
    pub(super) fn hold(&mut self, found: &mut BTreeMap<(Day, u64), Vec<u8>>) {
        for day in self.days() {
            if let Some(value) = found.remove(&(day, self.unit.page)) {
                self.put(day, &value);
            }
        }
    }

    /// Works its reports out by what is known now. Answers whether the server has to be told, or asked, something.
    pub(super) fn work_out(&mut self) -> bool {
        self.work = work(&self.unit, self.pages.clone(), &self.learnt);
        self.sets.clear();
        self.freezes = None;
        let mut unsure = false;
        for ((_, report), answer) in self.unit.reports.iter().zip(&self.work.answers) {
            let stored = matches!(answer, Reported::Stored(_));
            let late = *answer == Reported::Refused(Refusal::TooLate);
            let asked = report.id.is_none_or(|id| self.asked.contains(&(report.uid, id)));
            if !(stored || is_unsure(*answer) || late && !asked) {
                continue;
            }
            unsure |= !stored;
            if !late {
                let freezes = report.freezes.timestamp_millis();
                self.freezes = Some(self.freezes.map_or(freezes, |first| first.min(freezes)));
            }
            if let Some(id) = report.id {
                IdSet::of(&mut self.sets, report.uid, report.day).take(id, stored);
            }
        }
        unsure || !self.work.pages.is_empty()
    }

    /// What is to be written.
    pub(super) fn writing(&self) -> Writing<'_> {
        let Self { unit, revisions, work, sets, freezes, .. } = self;
        Writing { number: unit.page, revisions, work, sets, freezes: *freezes }
    }

    /// Takes in what stood in the way of the write.
    pub(super) fn learn(&mut self, found: &Found) -> Result<(), StoreError> {
        self.asked.extend(self.sets.iter().flat_map(IdSet::ids));
        for obstacle in obstacles(found)? {
            match obstacle {
                Obstacle::Frozen(to) => self.learnt.frozen = Some(to),
                Obstacle::Erased(uid) => drop(self.learnt.erased.insert(uid)),
                Obstacle::Known(set, id) => {
                    let set = self.sets.get(set).ok_or_else(strange)?;
                    self.learnt.known.insert((set.uid, id));
                }
                Obstacle::Many(set, count) => {
                    let set = self.sets.get(set).ok_or_else(strange)?;
                    self.learnt.counts.insert((set.uid, set.own), count);
                }
                Obstacle::Stale(page, value) => {
                    let day = self.work.pages.keys().nth(page).copied().ok_or_else(strange)?;
                    self.pages.remove(&day);
                    self.revisions.remove(&day);
                    if !value.is_empty() {
                        self.put(day, &value);
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives its reports their answers.
    pub(super) fn answer(&self, answers: &mut [Option<Reported>]) {
        for ((place, _), answer) in self.unit.reports.iter().zip(&self.work.answers) {
            answers[*place] = Some(*answer);
        }
    }

    fn put(&mut self, day: Day, value: &[u8]) {
        let page = split(value).and_then(|(revision, bytes)| {
            let page = Page::decode(bytes).inspect_err(|why| {
                tracing::error!(%day, page = self.unit.page, %why, "a page of the step store cannot be read");
            });
            Some((revision, page.ok()?))
        });
        match page {
            Some((revision, page)) => {
                self.revisions.insert(day, revision);
                self.pages.insert(day, Some(page));
            }
            None => drop(self.pages.insert(day, None)),
        }
    }
}

/// Whether a refusal holds only if the report's id is not known and its `Day` is not frozen: both are said first.
fn is_unsure(answer: Reported) -> bool {
    use Refusal::{MixedKind, TooMany, TooManyReports, TooManySources};
    matches!(answer, Reported::Refused(MixedKind | TooMany | TooManyReports | TooManySources))
}

fn strange() -> StoreError {
    StoreError::corrupt("an answer of the step store's script", "it tells of what it was not asked")
}
