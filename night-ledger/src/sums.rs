use std::collections::BTreeMap;

use domain::{ChannelName, Shard, Zone};

use crate::{Claim, Class, Reason, State};

/// The sums of a night, one line for each zone, shard and channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// The lines.
    pub lines: BTreeMap<(Zone, Shard, ChannelName), Line>,
}

/// Counts of users. In each line `due` is the sum of `open`, `delivered` and all reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Users in the seals.
    pub due: u64,
    /// Neither delivered nor closed: a counter of its own.
    pub open: u64,
    /// Accepted by at least one device.
    pub delivered: u64,
    /// Closed, by [`Reason::code`].
    pub reasons: [u64; Reason::ALL.len()],
    /// Users whose push may have been taken unrecorded and who were pushed again.
    pub duplicates: u64,
}

impl Sums {
    /// All lines added up.
    pub fn total(&self) -> Line {
        self.lines.values().fold(Line::default(), |mut total, line| {
            total.add(line);
            total
        })
    }

    /// Whether a recount comes to the same, lines that nobody was ever due in aside.
    pub fn agrees(&self, recount: &Sums) -> bool {
        let due =
            |sums: &Sums| sums.lines.clone().into_iter().filter(|(_, line)| line.due > 0).collect::<Vec<_>>();
        due(self) == due(recount)
    }

    /// Adds a line's counts.
    pub fn add(&mut self, zone: Zone, shard: Shard, channel: ChannelName, line: &Line) {
        self.lines.entry((zone, shard, channel)).or_default().add(line);
    }
}

impl Line {
    /// The users closed in a class.
    pub fn class(&self, class: Class) -> u64 {
        Reason::ALL.iter().filter(|r| r.class() == class).map(|r| self.reasons[usize::from(r.code())]).sum()
    }

    /// `due` less everything it should be the sum of: 0, or a fault that rings the alarm.
    pub fn unknown(&self) -> i64 {
        let known = self.open + self.delivered + self.reasons.iter().sum::<u64>();
        i64::try_from(self.due).unwrap_or(i64::MAX) - i64::try_from(known).unwrap_or(i64::MAX)
    }

    /// Counts one more user with this claim.
    pub(crate) fn enter(&mut self, claim: Claim) {
        self.due += 1;
        *self.place(claim) += 1;
        self.duplicates += u64::from(claim.again());
    }

    fn place(&mut self, claim: Claim) -> &mut u64 {
        match claim.state() {
            State::Free(_) | State::Claimed(_) => &mut self.open,
            State::Delivered(_) => &mut self.delivered,
            State::Closed(reason) => &mut self.reasons[usize::from(reason.code())],
        }
    }

    fn add(&mut self, other: &Line) {
        self.due += other.due;
        self.open += other.open;
        self.delivered += other.delivered;
        self.duplicates += other.duplicates;
        self.reasons.iter_mut().zip(other.reasons).for_each(|(a, b)| *a += b);
    }
}

/// Changes of a line that are gathered before they are written in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delta {
    pub(crate) counts: [i64; COUNTS],
}

/// Deltas by channel and zone.
#[derive(Debug, Default)]
pub(crate) struct Deltas(Vec<(ChannelName, Zone, Delta)>);

impl Deltas {
    /// The delta of this line. Neighbours mostly have the same one, so the last one asked for is looked at first.
    pub(crate) fn at(&mut self, channel: &ChannelName, zone: Zone) -> &mut Delta {
        let found = self.0.iter().rposition(|(c, z, _)| *z == zone && c == channel);
        let place = found.unwrap_or(self.0.len());
        if found.is_none() {
            self.0.push((channel.clone(), zone, Delta::default()));
        }
        // whoever is asked for in turn stands last
        let last = self.0.len() - 1;
        self.0.swap(place, last);
        &mut self.0[last].2
    }

    /// Those that change anything.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(ChannelName, Zone, Delta)> {
        self.0.iter().filter(|(_, _, delta)| !delta.is_zero())
    }
}

/// From one delta for each channel and zone.
impl FromIterator<(ChannelName, Zone, Delta)> for Deltas {
    fn from_iter<T: IntoIterator<Item = (ChannelName, Zone, Delta)>>(deltas: T) -> Self {
        Self(deltas.into_iter().collect())
    }
}

/// due, open, delivered, duplicates, then the reasons.
pub(crate) const COUNTS: usize = 4 + Reason::ALL.len();

impl Delta {
    /// A user's claim goes from `old` to `new`.
    pub(crate) fn shift(&mut self, old: Claim, new: Claim) {
        self.count(old, -1);
        self.count(new, 1);
    }

    /// A user comes (`by` 1) with this claim, or goes (`by` -1).
    pub(crate) fn carry(&mut self, claim: Claim, by: i64) {
        self.counts[0] += by;
        self.count(claim, by);
    }

    fn count(&mut self, claim: Claim, by: i64) {
        let place = match claim.state() {
            State::Free(_) | State::Claimed(_) => 1,
            State::Delivered(_) => 2,
            State::Closed(reason) => 4 + usize::from(reason.code()),
        };
        self.counts[place] += by;
        self.counts[3] += if claim.again() { by } else { 0 };
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.counts.iter().all(|&c| c == 0)
    }
}

impl From<[u64; COUNTS]> for Line {
    fn from(counts: [u64; COUNTS]) -> Self {
        let mut line = Line {
            due: counts[0],
            open: counts[1],
            delivered: counts[2],
            duplicates: counts[3],
            ..Line::default()
        };
        line.reasons.copy_from_slice(&counts[4..]);
        line
    }
}
