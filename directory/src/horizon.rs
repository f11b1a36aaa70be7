use chrono::TimeDelta;
use domain::{Day, Instant};

/// How far back an opting in or a move can matter. A night is sealed at most 14 days after its deadline, and that may be two
/// days after its hour; the day that is left is for clocks that differ.
const KEPT: TimeDelta = TimeDelta::days(17);

/// What is too old to be kept: who had opted in by then is due in every night that may still be sealed, and who had moved by
/// then lives where they moved to. Time goes on, so what is dropped once is not missed later; a clock that was ahead by more
/// than a day and is set back leaves some due in nights before they opted in, if those are still to be sealed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Horizon {
    minute: u32,
    day: u32,
}

impl Horizon {
    /// The horizon at `now`.
    pub(crate) fn at(now: Instant) -> Self {
        let at = now.checked_sub_signed(KEPT).unwrap_or(Instant::UNIX_EPOCH);
        let minute = u32::try_from(at.timestamp().div_euclid(60)).unwrap_or(0);
        Self { minute, day: Day::of(at.date_naive()).map_or(0, Day::number) }
    }

    /// Its minute since 1970.
    pub(crate) fn minute(self) -> u32 {
        self.minute
    }

    /// The minute since which someone wants the push; 0 when it is too long ago to matter.
    pub(crate) fn due_from(self, minute: u32) -> u32 {
        if minute <= self.minute { 0 } else { minute }
    }

    /// Whether a move may matter whose last `Day` in the zone before has this number.
    pub(crate) fn reaches(self, last: u32) -> bool {
        last >= self.day
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_older_than_seventeen_days_is_dropped() {
        let now: Instant = "2026-06-18T12:00:59Z".parse().unwrap();
        let horizon = Horizon::at(now);
        let minute = u32::try_from((now - KEPT).timestamp() / 60).unwrap();
        assert_eq!([minute - 1, minute, minute + 1].map(|m| horizon.due_from(m)), [0, 0, minute + 1]);
        assert_eq!([20_260_531, 20_260_601].map(|day| horizon.reaches(day)), [false, true]);
    }

    #[test]
    fn a_clock_that_was_never_set_drops_nothing() {
        for now in [Instant::UNIX_EPOCH, Instant::MIN_UTC] {
            let horizon = Horizon::at(now);
            assert_eq!((horizon.due_from(1), horizon.reaches(19_700_101)), (1, true));
        }
    }
}
