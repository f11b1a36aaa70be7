use std::collections::BTreeMap;

use domain::{Day, Instant, Uid};
use plumbing::{Command, Redis};

use crate::{
    ReportId,
    bounds::MOST_OUTBOX,
    ids::{Epoch, MOST_IDS},
    page::Page,
    posting::{self, put_changes},
    redis::{
        keys::{Keys, group_of},
        scripts::REPORT,
    },
    work::Work,
};

/// What `report.lua` answers for a unit: nothing where it is written.
pub(crate) type Found = Vec<Vec<u8>>;

/// One unit to be written.
pub(crate) struct Writing<'a> {
    /// The number of its page.
    pub(crate) number: u64,
    /// The revisions of its pages as they were read; none where there was no page.
    pub(crate) revisions: &'a BTreeMap<Day, u32>,
    /// What was worked out.
    pub(crate) work: &'a Work,
    /// Ids to add and to look for.
    pub(crate) sets: &'a [IdSet],
    /// It may not be written where the watermark is at or above this, in ms since 1970.
    pub(crate) freezes: Option<i64>,
}

/// Ids of one user's reports in one epoch, which may also be in one other.
#[derive(Debug)]
pub(crate) struct IdSet {
    pub(crate) uid: Uid,
    pub(crate) own: Epoch,
    other: Option<Epoch>,
    add: Vec<ReportId>,
    look: Vec<ReportId>,
}

impl IdSet {
    /// The set among `all` for reports of a user's `Day`.
    pub(crate) fn of(all: &mut Vec<Self>, uid: Uid, day: Day) -> &mut Self {
        let own = Epoch::of(day);
        let other = Epoch::each(Epoch::around(day)).find(|epoch| *epoch != own);
        let place = all.iter().position(|set| (set.uid, set.own, set.other) == (uid, own, other));
        let place = place.unwrap_or_else(|| {
            all.push(Self { uid, own, other, add: Vec::new(), look: Vec::new() });
            all.len() - 1
        });
        &mut all[place]
    }

    /// All of its ids.
    pub(crate) fn ids(&self) -> impl Iterator<Item = (Uid, ReportId)> + '_ {
        self.add.iter().chain(&self.look).map(|id| (self.uid, *id))
    }

    /// Takes an id: to be added, or to be looked for alone.
    pub(crate) fn take(&mut self, id: ReportId, add: bool) {
        if add { self.add.push(id) } else { self.look.push(id) }
    }
}

/// The script that writes some units of one part.
pub(crate) fn command(redis: &Redis, part: u32, units: &[Writing<'_>], now: Instant) -> Command {
    let keys = Keys::of(redis, part);
    let mut named = Named {
        keys: &keys,
        all: vec![keys.frozen(), keys.erased(), keys.feed(), keys.outbox(), keys.days()],
    };
    let mut args: Vec<Vec<u8>> = vec![text(MOST_OUTBOX), vec![posting::VERSION]];
    for unit in units {
        named.unit(unit, now, &mut args);
    }
    args.iter().fold(REPORT.call(&named.all), |command, arg| command.arg(&arg[..]))
}

/// The keys of a script.
struct Named<'a> {
    keys: &'a Keys<'a>,
    all: Vec<String>,
}

impl Named<'_> {
    fn unit(&mut self, unit: &Writing<'_>, now: Instant, args: &mut Vec<Vec<u8>>) {
        args.push(unit.freezes.map_or_else(Vec::new, text));
        args.push(text(unit.work.users.len()));
        args.extend(unit.work.users.iter().map(|uid| text(uid.0)));
        args.push(text(unit.sets.len()));
        for set in unit.sets {
            let own = self.place(self.keys.ids(set.own, set.uid));
            let other = set.other.map_or(0, |other| self.place(self.keys.ids(other, set.uid)));
            args.extend([text(own), text(other), text(set.own.seconds_left(now)), text(MOST_IDS)]);
            args.extend([text(set.add.len()), text(set.look.len())]);
            args.extend(set.add.iter().chain(&set.look).map(|id| text(id.0.cast_signed())));
        }
        let mut posting = Vec::new();
        args.push(text(unit.work.pages.len()));
        for (day, page) in &unit.work.pages {
            let revision = unit.revisions.get(day);
            let next = revision.map_or(1, |revision| revision.wrapping_add(1));
            args.push(text(self.place(self.keys.page(*day, unit.number))));
            args.push(revision.map_or_else(Vec::new, |revision| revision.to_le_bytes().to_vec()));
            args.push([&next.to_le_bytes()[..], &page.encode()].concat());
            args.push(text(self.place(self.keys.groups(*day))));
            args.extend([text(group_of(unit.number)), text(day.number())]);
        }
        for (day, changes) in &unit.work.changes {
            put_changes(&mut posting, *day, Page::first(unit.number), changes);
        }
        args.push(posting);
    }

    /// The place of a key among those that units name, from 1.
    fn place(&mut self, key: String) -> usize {
        self.all.push(key);
        self.all.len() - 5
    }
}

fn text(number: impl itoa::Integer) -> Vec<u8> {
    itoa::Buffer::new().format(number).as_bytes().to_vec()
}
