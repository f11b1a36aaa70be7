use std::{collections::VecDeque, time::Duration};

use night_ledger::Owner;
use tokio::time::Instant;

use crate::channel::Quota;

/// Who lived, by the ledger's answers of the last while, and what share follows from it.
///
/// The others may have seen a change or not yet. So the share is the smallest that follows from any answer of the last two
/// terms and for as long as a push counts (see [`Counted`]): one that shrinks holds at once, and one that grows when all
/// have seen the change (or stopped), and what another pushed before does not count any more. After each change, for as
/// long, the sum of the shares stays below the quota, however the answers of the senders overlap.
#[derive(Debug)]
pub(super) struct Views {
    owner: Owner,
    term: Duration,
    /// The longest that a push counts on any channel.
    longest: Duration,
    /// Oldest first; neighbours differ.
    seen: VecDeque<View>,
    /// When the last one that was answered had been asked for.
    asked: Option<Instant>,
    /// When this sender begins, having joined others, where nothing counts for longer than its window.
    begins: Option<Instant>,
    /// Nobody else's pushes can be in flight: the ledger is this process's alone.
    exclusive: bool,
}

#[derive(Debug)]
struct View {
    /// The sender's place among the live ones, and how many they are; `None` where it is not among them.
    place: Option<(usize, usize)>,
    /// When it was last answered.
    last: Instant,
}

/// A channel's quota, and how long one of its pushes takes at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted<'a> {
    pub(super) quota: &'a Quota,
    pub(super) push: Duration,
}

impl Counted<'_> {
    /// For how long a push counts: for its window, and in flight until it is over.
    pub(super) fn time(&self) -> Duration {
        let window = if self.quota.per_minute.is_some() { MINUTE } else { SECOND };
        window.max(self.in_flight())
    }

    /// For how long the pushes of one who stopped may still be in flight, where that counts.
    fn in_flight(&self) -> Duration {
        if self.quota.in_flight.is_some() { self.push } else { Duration::ZERO }
    }
}

/// More changes than this in the time that counts are not told apart: then there is no share.
const MOST_VIEWS: usize = 256;

impl Views {
    /// Nothing seen yet; `longest` is the longest [`Counted::time`] that will be asked about.
    pub(super) fn new(owner: Owner, term: Duration, longest: Duration) -> Self {
        Self { owner, term, longest, seen: VecDeque::new(), asked: None, begins: None, exclusive: false }
    }

    /// The same over a ledger that nobody else can have open, if it is one.
    pub(super) fn exclusive(self, exclusive: bool) -> Self {
        Self { exclusive, ..self }
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
        let oldest = self.since(now, self.longest);
        self.seen.retain(|view| oldest.is_none_or(|oldest| view.last >= oldest));
        // one too many stays, which tells that there were too many
        let more = self.seen.len().saturating_sub(MOST_VIEWS + 1);
        self.seen.drain(..more);
    }

    /// As whom it is announced.
    #[cfg(test)]
    pub(super) fn owner(&self) -> Owner {
        self.owner
    }

    /// When it begins on a channel, if it has joined: where pushes in flight count, not before those of all who had no
    /// room for it yet, or were just gone, are over.
    pub(super) fn begins(&self, counted: Counted<'_>) -> Option<Instant> {
        let others = if self.exclusive { Duration::ZERO } else { counted.in_flight() };
        self.begins?.checked_add(others)
    }

    /// The share of a quota that holds now, and until when it does without another word; `None` when nothing may be pushed.
    pub(super) fn share(&self, counted: Counted<'_>, now: Instant) -> Option<(Quota, Instant)> {
        let until = self.asked? + self.term;
        if until <= now || self.begins(counted).is_none_or(|begins| begins > now) {
            return None;
        }
        let oldest = self.since(now, counted.time());
        let newest = self.seen.len().checked_sub(1)?;
        let counts = |(index, view): &(usize, &View)| {
            *index == newest || oldest.is_none_or(|oldest| view.last >= oldest)
        };
        let views: Vec<_> = self.seen.iter().enumerate().filter(counts).collect();
        if views.len() > MOST_VIEWS {
            return None;
        }
        let shares = views
            .into_iter()
            .map(|(_, view)| view.place.and_then(|(index, n)| counted.quota.share(index, n)));
        let least = shares.reduce(|least, share| Some(least?.min(&share?)))??;
        Some((least, until))
    }

    /// Since when what was seen matters, where a push counts for `time`.
    fn since(&self, now: Instant, time: Duration) -> Option<Instant> {
        now.checked_sub((self.term * 2).saturating_add(time))
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
            Self { start: Instant::now(), views: Views::new(Owner(2), TERM, MINUTE) }
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
            let counted = Counted { quota: &quota(90), push: Duration::from_secs(15) };
            let share = self.views.share(counted, self.at(seconds));
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
            let counted = Counted { quota: &quota, push: Duration::from_secs(15) };
            let share = rig.views.share(counted, rig.at(second)).and_then(|(share, _)| share.per_minute);
            let expected = match second {
                0..5 => 0,
                5..80 => 45,
                _ => 90,
            };
            assert_eq!(share.map_or(0, NonZeroU32::get), expected, "{second}");
        }
    }

    /// Places in flight at that time, 0 for none, where a push takes a hundred seconds at most.
    fn places(rig: &Rig, second: u64) -> u32 {
        let quota = Quota { in_flight: NonZeroU32::new(90), ..Quota::default() };
        let counted = Counted { quota: &quota, push: Duration::from_secs(100) };
        let share = rig.views.share(counted, rig.at(second)).and_then(|(share, _)| share.in_flight);
        share.map_or(0, NonZeroU32::get)
    }

    #[test]
    fn who_joins_waits_for_the_pushes_that_others_have_in_flight() {
        let mut rig = Rig { views: Views::new(Owner(2), TERM, Duration::from_secs(100)), ..Rig::new() };
        for second in 0..=120 {
            rig.answer(second, &[1, 2]);
            assert_eq!(places(&rig, second), if second < 105 { 0 } else { 45 }, "{second}");
            assert_eq!(
                rig.share(second),
                if second < 5 { 0 } else { 45 },
                "a rate does not wait for them: {second}"
            );
        }
        // one that is not seen any more may have pushed until it was gone
        let mut rig = Rig { views: Views::new(Owner(2), TERM, Duration::from_secs(100)), ..Rig::new() };
        for second in 0..=101 {
            rig.answer(second, &[2]);
            assert_eq!(places(&rig, second), if second < 100 { 0 } else { 90 }, "{second}");
        }
    }

    #[test]
    fn who_has_the_ledger_alone_begins_at_once() {
        let views = Views::new(Owner(2), TERM, Duration::from_secs(100)).exclusive(true);
        let mut rig = Rig { views, ..Rig::new() };
        rig.answer(0, &[2]);
        assert_eq!(places(&rig, 0), 90);
    }

    #[test]
    fn places_grow_when_the_pushes_of_who_left_are_over() {
        let mut rig = Rig { views: Views::new(Owner(2), TERM, Duration::from_secs(100)), ..Rig::new() };
        for second in 0..=330 {
            rig.answer(second, if second < 200 { &[1, 2] } else { &[2] });
            let expected = match second {
                0..105 => 0,
                // last seen at 199, then two terms and the longest push
                105..310 => 45,
                _ => 90,
            };
            assert_eq!(places(&rig, second), expected, "{second}");
        }
    }

    #[test]
    fn too_many_changes_to_tell_apart_leave_no_share_where_they_count() {
        let mut rig = Rig { views: Views::new(Owner(2), TERM, Duration::MAX), ..Rig::new() };
        for second in 0..1_000 {
            rig.answer(second, if second % 2 == 0 { &[1, 2] } else { &[2] });
            assert!(rig.views.seen.len() <= MOST_VIEWS + 1);
        }
        assert_eq!((places(&rig, 999), rig.share(999)), (45, 45));
        let quota = Quota { in_flight: NonZeroU32::new(90), ..Quota::default() };
        for push in [Duration::from_secs(500), Duration::MAX] {
            assert_eq!(rig.views.share(Counted { quota: &quota, push }, rig.at(999)), None);
        }
    }
}
