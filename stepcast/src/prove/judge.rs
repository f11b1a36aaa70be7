use night_ledger::{Claim, Class, Reason, State};

use super::{Kind, Received};

/// Whether what was received of a user can be, by the user's claim; what is wrong with it where it cannot.
///
/// | the claim | receipts |
/// | --- | --- |
/// | delivered | one or more |
/// | uncertain, or claimed | any |
/// | suppressed, expired, missed, aborted, rejected, dead, or free | none |
///
/// Of one identity more than one only with `maybe`, which also allows receipts of a push that was refused or that waits
/// for another try: the one before it may have been taken.
pub(crate) fn judge(claim: Claim, received: Received) -> Option<Kind> {
    let never = match claim.state() {
        State::Delivered(_) if received.all == 0 => return Some(Kind::NotReceived),
        State::Delivered(_) | State::Claimed(_) => false,
        State::Free(_) => !claim.maybe(),
        // who has no steps had none before, whatever may have been tried
        State::Closed(Reason::NoSteps) => true,
        State::Closed(reason) => reason.class() != Class::Uncertain && !claim.maybe(),
    };
    if never && received.all > 0 {
        return Some(Kind::Received);
    }
    (received.most > 1 && !claim.maybe()).then_some(Kind::Repeated)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Received = Received { all: 0, most: 0 };
    const ONE: Received = Received { all: 1, most: 1 };
    const TWO_DEVICES: Received = Received { all: 2, most: 1 };
    const TWICE: Received = Received { all: 2, most: 2 };

    fn claimed() -> Claim {
        Claim::FRESH.claim(1, false).unwrap()
    }

    #[test]
    fn delivered_is_received_and_twice_only_with_maybe() {
        let delivered = claimed().deliver();
        let judged = [NONE, ONE, TWO_DEVICES, TWICE].map(|received| judge(delivered, received));
        assert_eq!(judged, [Some(Kind::NotReceived), None, None, Some(Kind::Repeated)]);
        let again = claimed().claim(1, true).unwrap().deliver();
        assert_eq!([ONE, TWICE].map(|received| judge(again, received)), [None, None]);
        assert_eq!(judge(again, NONE), Some(Kind::NotReceived));
    }

    #[test]
    fn uncertain_may_or_may_not() {
        let uncertain = claimed().close(Reason::NoAnswer);
        assert_eq!([NONE, ONE].map(|received| judge(uncertain, received)), [None, None]);
        assert_eq!(judge(uncertain, TWICE), Some(Kind::Repeated));
        let tried_again = claimed().retry(true).claim(2, false).unwrap().close(Reason::NoAnswer);
        assert_eq!(judge(tried_again, TWICE), None);
    }

    #[test]
    fn every_other_end_is_never_received() {
        for reason in Reason::ALL.into_iter().filter(|r| r.class() != Class::Uncertain) {
            let closed = claimed().close(reason);
            assert_eq!(judge(closed, NONE), None, "{reason:?}");
            assert_eq!(judge(closed, ONE), Some(Kind::Received), "{reason:?}");
        }
        let no_steps = claimed().retry(true).claim(2, false).unwrap().close(Reason::NoSteps);
        assert!(no_steps.maybe());
        assert_eq!(judge(no_steps, ONE), Some(Kind::Received));
    }

    #[test]
    fn what_is_open_may_be_in_flight() {
        assert_eq!(judge(claimed(), ONE), None);
        assert_eq!(judge(Claim::FRESH, ONE), Some(Kind::Received));
        assert_eq!(judge(Claim::FRESH, NONE), None);
        assert_eq!(judge(claimed().retry(true), ONE), None);
        assert_eq!(judge(claimed().retry(false), ONE), Some(Kind::Received));
    }
}
