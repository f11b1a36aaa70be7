use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// A clock that is further ahead than this of what has passed since the last look has leapt.
const LEAP: TimeDelta = TimeDelta::seconds(60);
/// How long a leap must hold before it is followed.
const HOLDS: Duration = Duration::from_mins(2);

/// The wall clock without leaps ahead that do not last. Wall and monotonic time are arguments, the latter since the start.
/// A step back and what drifts between two looks are followed at once.
#[derive(Debug)]
pub(super) struct Steady {
    /// The wall clock and the monotonic one when the former was last followed.
    followed: (DateTime<Utc>, Duration),
    leap: Option<Leap>,
}

/// A leap that is not followed yet.
#[derive(Clone, Copy, Debug)]
struct Leap {
    ahead: TimeDelta,
    since: Duration,
}

impl Steady {
    /// One that was started when the wall clock showed `wall`.
    pub(super) fn new(wall: DateTime<Utc>) -> Self {
        Self { followed: (wall, Duration::ZERO), leap: None }
    }

    /// The time to show where the wall clock shows `wall`, `elapsed` after the start.
    pub(super) fn show(&mut self, wall: DateTime<Utc>, elapsed: Duration) -> DateTime<Utc> {
        let (then, at) = self.followed;
        let passed = TimeDelta::from_std(elapsed.saturating_sub(at)).unwrap_or(TimeDelta::MAX);
        let expected = then.checked_add_signed(passed).unwrap_or(wall);
        let ahead = wall.signed_duration_since(expected);
        if ahead <= LEAP {
            if self.leap.is_some() {
                tracing::warn!(%wall, "the system's clock took its leap back");
            }
            return self.follow(wall, elapsed);
        }
        // one that goes on leaping has to hold anew
        let held = self.leap.filter(|leap| (ahead - leap.ahead).abs() <= LEAP);
        let leap = held.unwrap_or_else(|| {
            tracing::warn!(%wall, %expected, "the system's clock leapt ahead: it is followed once that has held for two minutes");
            Leap { ahead, since: elapsed }
        });
        self.leap = Some(leap);
        if elapsed.saturating_sub(leap.since) < HOLDS {
            return expected;
        }
        tracing::warn!(%wall, %expected, "the leap of the system's clock has held and is followed");
        self.follow(wall, elapsed)
    }

    fn follow(&mut self, wall: DateTime<Utc>, elapsed: Duration) -> DateTime<Utc> {
        *self = Self { followed: (wall, elapsed), leap: None };
        wall
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A wall clock set off from the true time by `off` seconds, looked at every quarter of a second of `seconds`; answers
    /// by how many seconds what is shown is ahead of the true time at most and at least.
    fn look(steady: &mut Steady, seconds: std::ops::Range<u64>, off: i64) -> (i64, i64) {
        let shown = (seconds.start * 4..seconds.end * 4).map(|quarter| {
            let elapsed = Duration::from_millis(quarter * 250);
            let truth = start() + TimeDelta::from_std(elapsed).unwrap();
            (steady.show(truth + TimeDelta::seconds(off), elapsed) - truth).num_seconds()
        });
        let shown: Vec<_> = shown.collect();
        (*shown.iter().max().unwrap(), *shown.iter().min().unwrap())
    }

    fn start() -> DateTime<Utc> {
        DateTime::from_timestamp(1_780_862_400, 0).unwrap()
    }

    #[test]
    fn a_leap_that_is_taken_back_is_never_shown() {
        let mut steady = Steady::new(start());
        assert_eq!(look(&mut steady, 0..10, 0), (0, 0));
        assert_eq!(look(&mut steady, 10..30, 7_200), (0, 0));
        assert_eq!(look(&mut steady, 30..600, 0), (0, 0));
        // nor does it count for the next one
        assert_eq!(look(&mut steady, 600..719, 7_200), (0, 0));
    }

    #[test]
    fn a_leap_that_holds_is_followed_after_two_minutes() {
        let mut steady = Steady::new(start());
        assert_eq!(look(&mut steady, 0..10, 0), (0, 0));
        assert_eq!(look(&mut steady, 10..130, 7_200), (0, 0));
        assert_eq!(look(&mut steady, 130..400, 7_200), (7_200, 7_200));
    }

    #[test]
    fn a_clock_that_goes_on_leaping_is_not_followed() {
        let mut steady = Steady::new(start());
        for (minute, hours) in (0u64..10).zip(1i64..) {
            assert_eq!(look(&mut steady, minute * 60..(minute + 1) * 60, hours * 3_600), (0, 0));
        }
    }

    #[test]
    fn a_step_back_is_followed_at_once() {
        let mut steady = Steady::new(start());
        assert_eq!(look(&mut steady, 0..10, 0), (0, 0));
        assert_eq!(look(&mut steady, 10..20, -86_400), (-86_400, -86_400));
        // and the clock set right again is a leap like any other
        assert_eq!(look(&mut steady, 20..140, 0), (-86_400, -86_400));
        assert_eq!(look(&mut steady, 140..150, 0), (0, 0));
    }

    #[test]
    fn a_small_step_and_a_slow_drift_are_followed() {
        let mut steady = Steady::new(start());
        for hour in 0u64..48 {
            // ten seconds an hour, seen once an hour
            let elapsed = Duration::from_hours(hour);
            let wall = start()
                + TimeDelta::from_std(elapsed).unwrap()
                + TimeDelta::seconds(10) * i32::try_from(hour).unwrap();
            assert_eq!(steady.show(wall, elapsed), wall, "{hour}");
        }
    }

    proptest! {
        /// Whatever a clock does, what is shown is the wall clock or behind it.
        #[test]
        fn it_never_shows_more_than_the_wall_clock(
            looks in proptest::collection::vec((-100_000i64..100_000, 0u64..200), 1..60)
        ) {
            let (mut steady, mut elapsed) = (Steady::new(start()), 0);
            for (off, pause) in looks {
                elapsed += pause;
                let wall = start() + TimeDelta::seconds(i64::try_from(elapsed).unwrap() + off);
                prop_assert!(steady.show(wall, Duration::from_secs(elapsed)) <= wall);
            }
        }
    }
}
