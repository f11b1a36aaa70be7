use crate::Reason;

/// The claim on one push: one byte a user of a night.
///
/// | bits | meaning |
/// | --- | --- |
/// | 0, 1 | state: 0 free, 1 claimed, 2 delivered, 3 closed |
/// | 2 | `maybe`: a push may have been taken and not recorded |
/// | 3 | `again`: it was, or may have been, pushed again after that |
/// | 4 to 7 | the attempt (1 to 15); of a closed one, the code of its [`Reason`] |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claim(u8);

/// What a claim says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// To be pushed by the batch of this attempt.
    Free(u8),
    /// Taken by the batch of this attempt; in flight and not recorded yet.
    Claimed(u8),
    /// Delivered at this attempt. It is never pushed again.
    Delivered(u8),
    /// Over without a delivery.
    Closed(Reason),
}

/// The most attempts that fit the byte.
pub const MOST_ATTEMPTS: u8 = 15;

const MAYBE: u8 = 1 << 2;
const AGAIN: u8 = 1 << 3;

impl Claim {
    /// A claim as the seal makes it: free at the first attempt.
    pub const FRESH: Self = Self(1 << 4);

    /// A claim that is free at this attempt, if it can be.
    pub(crate) fn free(attempt: u8) -> Option<Self> {
        (1..=MOST_ATTEMPTS).contains(&attempt).then_some(Self(attempt << 4))
    }

    /// A claim that is over before it began.
    pub fn closed_at_once(reason: Reason) -> Self {
        Self(3 | reason.code() << 4)
    }

    /// The claim in this byte, if it is one.
    pub fn from_byte(byte: u8) -> Option<Self> {
        let rest = byte >> 4;
        let good = if byte & 3 == 3 { Reason::from_code(rest).is_some() } else { rest >= 1 };
        good.then_some(Self(byte))
    }

    /// Its byte.
    pub fn byte(self) -> u8 {
        self.0
    }

    /// What it says.
    pub fn state(self) -> State {
        let rest = self.0 >> 4;
        match self.0 & 3 {
            0 => State::Free(rest),
            1 => State::Claimed(rest),
            2 => State::Delivered(rest),
            // from_byte and close let only known codes in
            _ => State::Closed(Reason::from_code(rest).unwrap_or(Reason::NoAnswer)),
        }
    }

    /// Whether a push may have been taken and not recorded.
    pub fn maybe(self) -> bool {
        self.0 & MAYBE != 0
    }

    /// Whether it was pushed again after that.
    pub fn again(self) -> bool {
        self.0 & AGAIN != 0
    }

    /// Whether it is neither delivered nor closed.
    pub fn open(self) -> bool {
        self.0 & 3 < 2
    }

    /// Claims it for the batch of `attempt`; `None` when it is not this batch's to claim. `took_over`: the lease under
    /// which it may have been claimed before is another's and ran out, so its push may have been taken, and where it may
    /// have been before, it may have been pushed again.
    pub fn claim(self, attempt: u8, took_over: bool) -> Option<Self> {
        match self.state() {
            State::Free(at) if at == attempt => Some(Self(self.0 | 1)),
            State::Claimed(at) if at == attempt && took_over => Some(Self(self.pushed().0 | MAYBE)),
            State::Claimed(at) if at == attempt => Some(self),
            _ => None,
        }
    }

    /// One that was pushed now: again, if it may have been before.
    pub fn pushed(self) -> Self {
        Self(self.0 | if self.maybe() { AGAIN } else { 0 })
    }

    /// A claimed one delivered.
    pub fn deliver(self) -> Self {
        Self(self.pushed().0 & !3 | 2)
    }

    /// One that is over. What may have been taken ends as [`Reason::NoAnswer`], since it cannot be said that nothing was
    /// received; but who has no steps now had none before, as totals only rise, and was not pushed to.
    pub fn close(self, reason: Reason) -> Self {
        let reason = if self.maybe() && reason != Reason::NoSteps { Reason::NoAnswer } else { reason };
        Self(self.0 & (MAYBE | AGAIN) | 3 | reason.code() << 4)
    }

    /// A claimed one set free again, at its own attempt.
    pub fn release(self) -> Self {
        Self(self.0 & !3)
    }

    /// A claimed one set free at the next attempt; past the last one that fits it is closed.
    pub fn retry(self, maybe: bool) -> Self {
        let attempt = self.0 >> 4;
        let tried = if maybe { Self(self.pushed().0 | MAYBE) } else { self };
        if attempt >= MOST_ATTEMPTS {
            return tried.close(Reason::Attempts);
        }
        Self(tried.0 & (MAYBE | AGAIN) | (attempt + 1) << 4)
    }

    /// One that was given up after its last attempt, free again at the first; `None` for any other.
    pub fn reopen(self) -> Option<Self> {
        (self.state() == State::Closed(Reason::Attempts))
            .then_some(Self(self.0 & (MAYBE | AGAIN) | Self::FRESH.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_fixed() {
        assert_eq!(Claim::FRESH.byte(), 0b0001_0000);
        let claimed = Claim::FRESH.claim(1, false).unwrap();
        assert_eq!(claimed.byte(), 0b0001_0001);
        assert_eq!(claimed.deliver().byte(), 0b0001_0010);
        assert_eq!(claimed.retry(true).byte(), 0b0010_0100);
        assert_eq!(claimed.close(Reason::NoSteps).byte(), 0b0010_0011);
        assert_eq!(Claim::closed_at_once(Reason::ZoneMoved).byte(), 0b0011_0011);
    }

    #[test]
    fn every_byte_is_a_claim_or_refused() {
        let good = (0..=255u8).filter(|&b| Claim::from_byte(b).is_some()).count();
        // 3 states x 15 attempts x 4 bits of history, and 14 reasons x 4
        assert_eq!(good, 3 * 15 * 4 + Reason::ALL.len() * 4);
    }

    #[test]
    fn only_its_own_attempt_claims() {
        let second = Claim::FRESH.claim(1, false).unwrap().retry(false);
        assert_eq!(second.state(), State::Free(2));
        assert_eq!(second.claim(1, true), None);
        assert_eq!(second.claim(2, false).map(Claim::state), Some(State::Claimed(2)));
        assert_eq!(second.claim(2, false).unwrap().deliver().claim(2, true), None);
    }

    #[test]
    fn taking_over_marks_what_may_have_been_pushed() {
        let claimed = Claim::FRESH.claim(1, false).unwrap();
        assert_eq!(claimed.claim(1, false), Some(claimed));
        let taken = claimed.claim(1, true).unwrap();
        assert!(taken.maybe() && !taken.again());
        assert!(taken.claim(1, true).unwrap().again(), "the second owner may have pushed it too");
        assert!(taken.deliver().again() && taken.retry(true).again());
        assert!(!taken.retry(false).again() && !taken.release().again(), "nothing was pushed");
        let no_answer = claimed.retry(true);
        assert!(no_answer.maybe() && !no_answer.again());
        assert!(no_answer.claim(2, false).unwrap().deliver().again());
    }

    #[test]
    fn only_what_was_given_up_opens_again() {
        for byte in (0..=255u8).filter_map(Claim::from_byte) {
            let opened = byte.reopen();
            assert_eq!(opened.is_some(), byte.state() == State::Closed(Reason::Attempts));
            let Some(opened) = opened else { continue };
            assert_eq!(opened.state(), State::Free(1));
            assert_eq!((opened.maybe(), opened.again()), (byte.maybe(), byte.again()));
        }
    }

    #[test]
    fn what_may_have_been_taken_is_never_said_not_to_be() {
        let taken = Claim::FRESH.claim(1, false).unwrap().retry(true);
        for reason in Reason::ALL {
            let ends = if reason == Reason::NoSteps { reason } else { Reason::NoAnswer };
            assert_eq!(taken.close(reason).state(), State::Closed(ends));
            assert_eq!(Claim::FRESH.close(reason).state(), State::Closed(reason));
        }
    }

    #[test]
    fn attempts_end() {
        let mut claim = Claim::FRESH;
        for attempt in 1..=MOST_ATTEMPTS {
            claim = claim.claim(attempt, false).unwrap().retry(false);
        }
        assert_eq!(claim.state(), State::Closed(Reason::Attempts));
    }
}
