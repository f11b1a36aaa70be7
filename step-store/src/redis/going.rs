use std::collections::BTreeMap;

use domain::{Day, Instant, Uid};
use plumbing::Redis;

use super::{
    found::Found,
    keys,
    load::{Add, Ask, Load, Put, Written},
    value,
};
use crate::{
    ReportId, Reported,
    ids::{Epoch, MOST_IDS},
    page::Page,
    posting::put_changes,
    work::{Learnt, Pages, Unit, Work, work},
};

/// The most ids that one command of the script looks for or adds.
const MOST_TOGETHER: usize = 500;

/// A unit on its way: worked out on what is known of the store, refused where that was not so, and worked out again with what
/// was found instead.
pub(super) struct Going {
    pub(super) unit: Unit,
    /// The values of its pages as far as they are known.
    pub(super) held: BTreeMap<Day, Vec<u8>>,
    learnt: Learnt,
    work: Work,
}

impl Going {
    /// A unit of which nothing is known yet.
    pub(super) fn new(unit: Unit) -> Self {
        Self { unit, held: BTreeMap::new(), learnt: Learnt::default(), work: Work::default() }
    }

    /// Works it out.
    pub(super) fn work(&mut self) {
        let pages: Pages = self.held.iter().map(|(day, held)| (*day, value::page(held).ok())).collect();
        self.work = work(&self.unit, pages, &self.learnt);
    }

    /// The answers as they are worked out, with their places in the call.
    pub(super) fn answers(&self) -> impl Iterator<Item = (usize, Reported)> {
        self.unit.reports.iter().map(|(place, _)| *place).zip(self.work.answers.iter().copied())
    }

    /// Whether the answers hold without a write: all are refused, and no id is to be looked for first.
    pub(super) fn is_over(&self) -> bool {
        let refused = |answer: &Reported| matches!(answer, Reported::Refused(_));
        self.asks().next().is_none() && self.work.answers.iter().all(refused)
    }

    /// What the script is to write, and what it is to look for before.
    pub(super) fn load(&self, redis: &Redis, to: &mut Load, now: Instant) {
        let (part, mut posting) = (self.unit.part(), Vec::new());
        for (day, changes) in &self.work.changes {
            put_changes(&mut posting, *day, Page::first(self.unit.page), changes);
        }
        let puts = self.work.pages.iter().map(|(day, page)| {
            let revision = value::revision(self.held.get(day).map(Vec::as_slice));
            let key = to.key(keys::pages(redis, part, *day));
            Put {
                key,
                day: *day,
                page: self.unit.page,
                revision: revision.to_vec(),
                value: value::next(revision, page),
            }
        });
        let puts = puts.collect();
        let asks = self.asks().map(|(uid, day, ids)| {
            let mut keys = Epoch::each(Epoch::around(day)).map(|epoch| to.key(keys::ids(redis, uid, epoch)));
            Ask { keys: [keys.next().unwrap_or(0), keys.next().unwrap_or(0)], ids }
        });
        let asks = asks.collect();
        let adds = self.adds().map(|(uid, epoch, before, ids)| Add {
            key: to.key(keys::ids(redis, uid, epoch)),
            ttl: epoch.seconds_left(now),
            most: MOST_IDS - before,
            ids,
        });
        let adds = adds.collect();
        let users = self.work.users.iter().flat_map(|uid| uid.0.to_le_bytes()).collect();
        to.push(Written { freezes: self.work.freezes, posting, users, puts, asks, adds });
    }

    /// Takes what was found instead of what was expected.
    pub(super) fn learn(&mut self, found: Found) {
        let known: Vec<_> = {
            let asks: Vec<_> = self.asks().collect();
            let of = |(group, place): &(usize, usize)| {
                let (uid, _, ids) = asks.get(*group)?;
                Some((*uid, *ids.get(*place)?))
            };
            found.known.iter().filter_map(of).collect()
        };
        let full: Vec<_> = {
            let adds: Vec<_> = self.adds().collect();
            let of = |(group, held): &(usize, usize)| {
                adds.get(*group).map(|(uid, epoch, ..)| ((*uid, *epoch), *held))
            };
            found.full.iter().filter_map(of).collect()
        };
        let users: Vec<_> = self.work.users.iter().copied().collect();
        let days: Vec<_> = self.work.pages.keys().copied().collect();
        self.learnt.known.extend(known);
        self.learnt.counts.extend(full);
        self.learnt.erased.extend(found.erased.iter().filter_map(|place| users.get(*place)));
        self.learnt.frozen = self.learnt.frozen.max(found.frozen);
        for (place, held) in found.pages {
            let Some(day) = days.get(place) else { continue };
            if held.is_empty() {
                self.held.remove(day)
            } else {
                self.held.insert(*day, held)
            };
        }
    }

    /// Ids to look for, as many together as one command takes. Those that are known are not looked for again.
    fn asks(&self) -> impl Iterator<Item = (Uid, Day, Vec<ReportId>)> {
        self.unit.ids().into_iter().flat_map(|((uid, day), mut ids)| {
            ids.retain(|id| !self.learnt.known.contains(&(uid, *id)));
            let groups: Vec<_> = ids.chunks(MOST_TOGETHER).map(<[_]>::to_vec).collect();
            groups.into_iter().map(move |ids| (uid, day, ids))
        })
    }

    /// Ids to add, as many together as one command takes, and how many others of the same set come before.
    fn adds(&self) -> impl Iterator<Item = (Uid, Epoch, usize, Vec<ReportId>)> {
        self.work.ids.iter().flat_map(|((uid, epoch), ids)| {
            let groups = ids.chunks(MOST_TOGETHER).enumerate();
            groups.map(|(group, ids)| (*uid, *epoch, group * MOST_TOGETHER, ids.to_vec()))
        })
    }
}
