mod steady;

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};

use self::steady::Steady;

/// Where a daemon's loop takes its "now" from; everything below the loop gets it as an argument.
/// It follows the system's clock, set off by a shift and, in a rehearsal, run faster. A leap of the system's clock by more
/// than a minute ahead is followed only once it has held for two minutes: under a clock that is wrong for a moment nights
/// would be pushed too early, or closed.
#[derive(Debug)]
pub struct Clock {
    shift_ms: AtomicI64,
    rate: u32,
    start: DateTime<Utc>,
    started: std::time::Instant,
    steady: Mutex<Steady>,
}

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        Self::shifted(TimeDelta::zero(), 1)
    }

    /// The system's clock set off by `shift`, and run at `rate` times its pace from now on.
    pub fn shifted(shift: TimeDelta, rate: u32) -> Self {
        let (start, started) = (Utc::now(), std::time::Instant::now());
        Self {
            shift_ms: AtomicI64::new(shift.num_milliseconds()),
            rate: rate.max(1),
            start,
            started,
            steady: Mutex::new(Steady::new(start)),
        }
    }

    /// The time it shows.
    pub fn now(&self) -> DateTime<Utc> {
        let (base, shift) = (self.base(), TimeDelta::milliseconds(self.shift_ms.load(Ordering::Relaxed)));
        base.checked_add_signed(shift).unwrap_or(base)
    }

    /// Moves it so that it shows `to`; it goes on from there.
    pub fn move_to(&self, to: DateTime<Utc>) {
        let shift = to.signed_duration_since(self.base()).num_milliseconds();
        self.shift_ms.store(shift, Ordering::Relaxed);
    }

    /// How long to wait, in real time, until it shows `at`; zero when it is past.
    pub fn until(&self, at: DateTime<Utc>) -> Duration {
        let shown = at.signed_duration_since(self.now()).to_std().unwrap_or_default();
        shown / self.rate
    }

    fn base(&self) -> DateTime<Utc> {
        if self.rate == 1 {
            let mut steady = self.steady.lock().unwrap_or_else(PoisonError::into_inner);
            // in this order: a pause between the two looks like a leap that is over at the next look, and not like a step
            // back, which is followed at once
            let elapsed = self.started.elapsed();
            return steady.show(Utc::now(), elapsed);
        }
        let elapsed = TimeDelta::from_std(self.started.elapsed() * self.rate).unwrap_or(TimeDelta::MAX);
        self.start.checked_add_signed(elapsed).unwrap_or(self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_can_be_moved_and_goes_on_from_there() {
        let clock = Clock::system();
        let target = Utc::now() + TimeDelta::hours(5);
        clock.move_to(target);
        let off = clock.now() - target;
        assert!((0..1000).contains(&off.num_milliseconds()), "{off}");
        assert_eq!(clock.until(target - TimeDelta::seconds(1)), Duration::ZERO);
        let wait = clock.until(target + TimeDelta::minutes(10));
        assert!(
            wait > Duration::from_secs(590) && wait < Duration::from_secs(601),
            "a move is no leap: {wait:?}"
        );
    }

    #[test]
    fn a_raised_rate_shortens_the_wait() {
        let clock = Clock::shifted(TimeDelta::zero(), 60);
        let wait = clock.until(clock.now() + TimeDelta::minutes(1));
        assert!(wait <= Duration::from_secs(1) && wait > Duration::from_millis(500), "{wait:?}");
    }
}
