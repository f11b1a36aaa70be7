use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use domain::Uid;

/// How long reports of a user who was erased are refused: longer than one is under way.
pub(crate) const REFUSED: Duration = Duration::from_secs(60);

/// Users who were erased a moment ago.
#[derive(Debug, Default)]
pub(crate) struct Erased {
    since: HashMap<Uid, Instant>,
    /// In the order in which they were erased.
    order: VecDeque<(Uid, Instant)>,
}

impl Erased {
    /// One more; those for whom the time is over are forgotten.
    pub(crate) fn insert(&mut self, uid: Uid, now: Instant) {
        while let Some((first, since)) = self.order.front().filter(|(_, since)| over(*since, now)).copied() {
            self.order.pop_front();
            if self.since.get(&first) == Some(&since) {
                self.since.remove(&first);
            }
        }
        self.since.insert(uid, now);
        self.order.push_back((uid, now));
    }

    /// Whether a user is one of them.
    pub(crate) fn contains(&self, uid: Uid, now: Instant) -> bool {
        self.since.get(&uid).is_some_and(|since| !over(*since, now))
    }
}

fn over(since: Instant, now: Instant) -> bool {
    now.saturating_duration_since(since) >= REFUSED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_kept_for_a_minute_and_then_forgotten() {
        let (mut erased, start) = (Erased::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        erased.insert(Uid(1), at(0));
        erased.insert(Uid(2), at(10));
        erased.insert(Uid(1), at(30));
        assert!(erased.contains(Uid(1), at(89)) && erased.contains(Uid(2), at(69)));
        assert!(!erased.contains(Uid(1), at(90)) && !erased.contains(Uid(2), at(70)));
        erased.insert(Uid(3), at(75));
        assert!(erased.contains(Uid(1), at(75)) && erased.since.len() == 2 && erased.order.len() == 2);
    }
}
