use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Users a second over the last second and a half.
#[derive(Default)]
pub(super) struct Rate {
    seen: VecDeque<(Instant, u64)>,
}

const WINDOW: Duration = Duration::from_millis(1_500);
/// The most readings held; what comes faster takes the place of the last.
const MOST: usize = 64;

impl Rate {
    /// The rate at `now`, when `done` are done.
    pub(super) fn at(&mut self, now: Instant, done: u64) -> u64 {
        while self.seen.len() > 1 && self.seen.front().is_some_and(|(at, _)| now.duration_since(*at) > WINDOW)
        {
            self.seen.pop_front();
        }
        if self.seen.len() >= MOST {
            self.seen.pop_back();
        }
        self.seen.push_back((now, done));
        let Some((from, before)) = self.seen.front() else { return 0 };
        let ms = u64::try_from(now.duration_since(*from).as_millis()).unwrap_or(u64::MAX);
        done.saturating_sub(*before).saturating_mul(1_000).checked_div(ms).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_last_second_and_a_half() {
        let (mut rate, start) = (Rate::default(), Instant::now());
        let mut at = |ms, done| rate.at(start + Duration::from_millis(ms), done);
        assert_eq!(at(0, 0), 0);
        assert_eq!(at(100, 50), 500);
        assert_eq!(at(1_000, 500), 500);
        // a pause empties the window but for the last reading before it
        assert_eq!(at(11_000, 500), 0);
        assert_eq!(at(11_000, 500), 0);
        for i in 0..1_000 {
            at(11_000, 500 + i);
        }
        assert_eq!(rate.seen.len(), MOST);
    }
}
