use std::{collections::VecDeque, time::Duration};

use night_ledger::Owner;
use tokio::time::Instant;

use crate::channel::Quota;

/// Who lived, by the ledger's answers of the last while, and what share follows from it.
///
/// The others may have seen a change or not yet. So the share is the smallest that follows from any answer of the last two
/// terms and one window of the quota: one that shrinks holds at once, and one that grows when all have seen the change (or
/// stopped), and what another pushed before is out of the window. After each change, for as long, the sum of the shares
/// stays below the quota, however the answers of the senders overlap.
#[derive(Debug)]
pub(super) struct Views {
    owner: Owner,
    term: Duration,
    /// Oldest first; neighbours differ.
    seen: VecDeque<View>,
    /// When the last one that was answered had been asked for.
    asked: Option<Instant>,
    /// When this sender begins, having joined others.
    begins: Option<Instant>,
}

#[derive(Debug)]
struct View {
    /// The sender's place among the live ones, and how many they are; `None` where it is not among them.
    place: Option<(usize, usize)>,
    /// When it was last answered.
    last: Instant,
}

/// More changes than this in the time that counts are not told apart: then there is no share.
const MOST_VIEWS: usize = 256;

impl Views {
    pub(super) fn new(owner: Owner, term: Duration) -> Self {
        Self { owner, term, seen: VecDeque::new(), asked: None, begins: None }
    }

    /// Notes an answer: who lives, by number, as asked for at `asked`.
    pub(super) fn answered(&mut self, asked: Instant, now: Instant, live: Vec<Owner>) {
        if self.asked.is_none_or(|before| before + self.term <= now) {
            // new, or away for so long that the others took it for gone: what they did meanwhile is not known
            self.seen.clear();
            let alone = live.iter().all(|owner| *owner == self.owner);
            self.begins = Some(if alone { now } else { now + self.term });
        }
        self.asked = Some(asked);
        let place = live.iter().position(|owner| *owner == self.owner).map(|index| (index, live.len()));
        match self.seen.back_mut() {
            Some(view) if view.place == place => view.last = now,
            _ => self.seen.push_back(View { place, last: now }),
        }
        let oldest = now.checked_sub(self.hold(MINUTE));
        self.seen.retain(|view| oldest.is_none_or(|oldest| view.last >= oldest));
    }

    /// As whom it is announced.
    #[cfg(test)]
    pub(super) fn owner(&self) -> Owner {
        self.owner
    }

    /// When it begins, if it has joined.
    pub(super) fn begins(&self) -> Option<Instant> {
        self.begins
    }

    /// The share of a quota that holds now, and until when it does without another word; `None` when nothing may be pushed.
    pub(super) fn share(&self, quota: &Quota, now: Instant) -> Option<(Quota, Instant)> {
        let until = self.asked? + self.term;
        if until <= now || self.begins.is_none_or(|begins| begins > now) || self.seen.len() > MOST_VIEWS {
            return None;
        }
        let window = if quota.per_minute.is_some() { MINUTE } else { SECOND };
        let oldest = now.checked_sub(self.hold(window));
        let newest = self.seen.len().checked_sub(1)?;
        let counts = |(index, view): &(usize, &View)| {
            *index == newest || oldest.is_none_or(|oldest| view.last >= oldest)
        };
        let views = self.seen.iter().enumerate().filter(counts);
        let shares = views.map(|(_, view)| view.place.and_then(|(index, n)| quota.share(index, n)));
        let least = shares.reduce(|least, share| Some(least?.min(&share?)))??;
        Some((least, until))
    }

    fn hold(&self, window: Duration) -> Duration {
        self.term * 2 + window
    }
}

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    const TERM: Duration = Duration::from_secs(5);

    fn quota(per_second: u32) -> Quota {
        Quota { per_second: NonZeroU32::new(per_second), ..Quota::default() }
    }

    fn owners(numbers: &[u64]) -> Vec<Owner> {
        numbers.iter().copied().map(Owner).collect()
    }

    struct Rig {
        start: Instant,
        views: Views,
    }

    impl Rig {
        fn new() -> Self {
            Self { start: Instant::now(), views: Views::new(Owner(2), TERM) }
        }

        fn at(&self, seconds: u64) -> Instant {
            self.start + Duration::from_secs(seconds)
        }

        fn answer(&mut self, seconds: u64, live: &[u64]) {
            let at = self.at(seconds);
            self.views.answered(at, at, owners(live));
        }

        /// Pushes a second of 90 at that time, 0 for none.
        fn share(&self, seconds: u64) -> u32 {
            let share = self.views.share(&quota(90), self.at(seconds));
            share.and_then(|(share, _)| share.per_second).map_or(0, NonZeroU32::get)
        }
    }

    #[test]
    fn alone_it_begins_at_once_and_among_others_after_a_term() {
        let mut rig = Rig::new();
        assert_eq!(rig.share(0), 0);
        rig.answer(0, &[2]);
        assert_eq!(rig.share(0), 90);
        let mut rig = Rig::new();
        for second in 0..=8 {
            rig.answer(second, &[1, 2]);
            assert_eq!(rig.share(second), if second < 5 { 0 } else { 45 }, "{second}");
        }
    }

    #[test]
    fn a_share_shrinks_at_once_and_grows_when_all_have_seen_it() {
        let mut rig = Rig::new();
        rig.answer(0, &[2]);
        rig.answer(1, &[1, 2, 3]);
        assert_eq!(rig.share(1), 30);
        for second in 2..=12 {
            rig.answer(second, &[2]);
            assert_eq!(rig.share(second), 30, "{second}");
        }
        rig.answer(13, &[2]);
        assert_eq!(rig.share(13), 90);
    }

    #[test]
    fn without_an_answer_for_a_term_it_has_no_share_and_joins_anew() {
        let mut rig = Rig::new();
        rig.answer(0, &[2]);
        assert_eq!((rig.share(4), rig.share(5)), (90, 0));
        rig.answer(7, &[2, 3]);
        assert_eq!((rig.share(7), rig.share(11)), (0, 0));
        rig.answer(11, &[2, 3]);
        assert_eq!(rig.share(12), 45);
        rig.answer(12, &[3]);
        assert_eq!(rig.share(12), 0, "the ledger does not know it");
    }

    #[test]
    fn a_minute_is_held_back_for_longer() {
        let mut rig = Rig::new();
        let quota = Quota { per_minute: NonZeroU32::new(90), ..Quota::default() };
        rig.answer(0, &[2, 3]);
        for second in 1..=100 {
            rig.answer(second, if second < 10 { &[2, 3] } else { &[2] });
            let share = rig.views.share(&quota, rig.at(second)).and_then(|(share, _)| share.per_minute);
            let expected = match second {
                0..5 => 0,
                5..80 => 45,
                _ => 90,
            };
            assert_eq!(share.map_or(0, NonZeroU32::get), expected, "{second}");
        }
    }
}
