//! What ends, or begins again, without a sender: the same for every engine.

use domain::{ChannelName, Zone};

use crate::{Claim, Due, Reason, Seal, State, sums::Deltas};

/// What closing a seal booked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ClosedOpen {
    /// Never published.
    pub missed: u64,
    /// Published and never worked.
    pub never_worked: u64,
    /// Worked, and still waiting for another try.
    pub expired: u64,
    /// Claimed and never recorded, or perhaps taken.
    pub uncertain: u64,
}

impl ClosedOpen {
    /// Adds the counts of another part of the seal.
    pub(crate) fn add(&mut self, other: Self) {
        self.missed += other.missed;
        self.never_worked += other.never_worked;
        self.expired += other.expired;
        self.uncertain += other.uncertain;
    }

    /// The end of a claim after the deadline, counted; `None` for one that has its end. The first `published` positions
    /// were published.
    pub(crate) fn end(&mut self, old: Claim, position: u32, published: u32) -> Option<Claim> {
        let (reason, count) = match old.state() {
            State::Claimed(_) => (Reason::NoAnswer, &mut self.uncertain),
            State::Free(_) if old.maybe() => (Reason::NoAnswer, &mut self.uncertain),
            State::Free(attempt) if attempt > 1 => (Reason::Deadline, &mut self.expired),
            State::Free(_) if position >= published => (Reason::NotPublished, &mut self.missed),
            State::Free(_) => (Reason::NeverWorked, &mut self.never_worked),
            State::Delivered(_) | State::Closed(_) => return None,
        };
        *count += 1;
        // a claim that was in flight may have been pushed again
        let last = if matches!(old.state(), State::Claimed(_)) { old.pushed() } else { old };
        Some(last.close(reason))
    }
}

/// The end of a claim that an operator aborts, if it is to be touched: in these zones, or in all.
pub(crate) fn aborted(old: Claim, zone: Zone, zones: Option<&[Zone]>) -> Option<Claim> {
    let meant = zones.is_none_or(|zones| zones.contains(&zone));
    (meant && matches!(old.state(), State::Free(_))).then(|| old.close(Reason::Operator))
}

/// Users of a seal whose claims change, and what that does to the sums.
#[derive(Debug, Default)]
pub(crate) struct Swept {
    /// Positions and their new claims, in the order they were looked at.
    pub(crate) changed: Vec<(u32, Claim)>,
    pub(crate) deltas: Deltas,
}

impl Swept {
    /// One user's claim goes from `old` to `new`, on the channel it was moved to or the seal's.
    pub(crate) fn change(
        &mut self,
        seal: &Seal,
        due: &Due,
        moved: Option<&ChannelName>,
        (position, old, new): (u32, Claim, Claim),
    ) {
        let channel = moved.unwrap_or(&seal.channels[usize::from(due.channel)]);
        self.deltas.at(channel, seal.zones[usize::from(due.zone)].zone).shift(old, new);
        self.changed.push((position, new));
    }
}
