//! What a step makes of the claims it touches: the same for every engine. An engine finds out what the claims are and who
//! holds them, and writes what comes out in one step.

use domain::ChannelName;

use crate::{Claim, Done, Outcome, Reason, State, Step, runs::Runs, sums::Deltas};

/// What the leases say of the claims of a seal.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    /// Claimed by this owner in its last step, under a lease that is live: the same step may come again when its answer
    /// was lost. Whatever else is claimed was left by another.
    pub(crate) own: Runs,
    /// Held by live leases on other batches of the seal: not to be touched.
    pub(crate) others: Runs,
}

/// What becomes of the claims.
#[derive(Debug, Default)]
pub(crate) struct Turned {
    /// The claims at the places given, as they are to be.
    pub(crate) now: Vec<Claim>,
    /// What that does to the sums.
    pub(crate) deltas: Deltas,
    /// Positions that move to another channel.
    pub(crate) moved: Vec<(u32, ChannelName)>,
    /// Positions whose outcome is booked.
    pub(crate) booked: Vec<u32>,
    /// The answer to the step.
    pub(crate) claimed: Vec<Option<Claim>>,
    /// Whether a claim was judged that nobody held, and that another step may judge too without a change of its byte.
    pub(crate) found: bool,
}

/// The positions that a step touches, ascending, each once.
pub(crate) fn touched(step: &Step) -> Vec<u32> {
    let booked = step.done.iter().map(|done| done.position);
    let mut positions: Vec<u32> = booked.chain(step.claim.iter().map(|(position, _)| *position)).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// Books the outcomes of a step and claims what it asks for. `old` are the claims at `positions`, which are those that
/// [`touched`] answers.
pub(crate) fn turn(step: &Step, hold: &Hold, positions: &[u32], old: &[Claim]) -> Turned {
    let mut work =
        Work { step, hold, positions, at: 0, turned: Turned { now: old.to_vec(), ..Turned::default() } };
    for done in &step.done {
        work.book(done);
    }
    for &(position, zone) in &step.claim {
        let claimed = work.claim(position, zone);
        work.turned.claimed.push(claimed);
    }
    work.turned
}

struct Work<'a> {
    step: &'a Step,
    hold: &'a Hold,
    positions: &'a [u32],
    /// The place looked at last: the next one mostly follows it.
    at: usize,
    turned: Turned,
}

impl Work<'_> {
    fn book(&mut self, done: &Done) {
        let Some(place) = self.place(done.position) else { return };
        let old = self.turned.now[place];
        // what this batch no longer holds was booked before, by a step whose answer got lost, or closed, or it is in
        // flight under another batch's lease
        if old.state() != State::Claimed(self.step.attempt) || self.held_by_another(done.position) {
            return;
        }
        self.turned.found |= !self.hold.own.contains(done.position);
        self.turned.booked.push(done.position);
        let channel = &self.step.channel;
        let new = match &done.outcome {
            Outcome::Delivered => old.deliver(),
            Outcome::Closed(Reason::NoAnswer) => old.pushed().close(Reason::NoAnswer),
            Outcome::Closed(reason) => old.close(*reason),
            Outcome::Retry { maybe } => old.retry(*maybe),
            Outcome::Released => old.release(),
            Outcome::Moved { channel: to } => {
                let new = old.retry(false);
                self.turned.deltas.at(channel, done.zone).carry(old, -1);
                self.turned.deltas.at(to, done.zone).carry(new, 1);
                self.turned.moved.push((done.position, to.clone()));
                self.turned.now[place] = new;
                return;
            }
        };
        self.turned.deltas.at(channel, done.zone).shift(old, new);
        self.turned.now[place] = new;
    }

    fn claim(&mut self, position: u32, zone: domain::Zone) -> Option<Claim> {
        let place = self.place(position)?;
        let old = self.turned.now[place];
        if self.held_by_another(position) {
            return None;
        }
        let took_over = !self.hold.own.contains(position);
        let new = old.claim(self.step.attempt, took_over)?;
        self.turned.found |= took_over && matches!(old.state(), State::Claimed(_));
        if old.again() != new.again() {
            self.turned.deltas.at(&self.step.channel, zone).shift(old, new);
        }
        self.turned.now[place] = new;
        Some(new)
    }

    fn held_by_another(&self, position: u32) -> bool {
        self.hold.others.contains(position) && !self.hold.own.contains(position)
    }

    fn place(&mut self, position: u32) -> Option<usize> {
        let next = self.at + 1;
        self.at = match self.positions.get(next) {
            Some(&there) if there == position => next,
            _ => self.positions.binary_search(&position).ok()?,
        };
        Some(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::{BatchId, Instant, Night, SealKey, Shard};

    use super::*;
    use crate::Owner;

    fn step(done: &[(u32, Outcome)], claim: &[u32]) -> Step {
        let zone = "Europe/Berlin".parse().unwrap();
        let night = Night { campaign: "nightly".parse().unwrap(), day: "20260607".parse().unwrap() };
        let instant = Instant::from_timestamp(1_780_862_400, 0).unwrap();
        let done = done.iter().cloned().map(|(position, outcome)| Done { position, zone, outcome });
        Step {
            seal: SealKey { night, shard: Shard(0), instant },
            batch: BatchId(1),
            attempt: 1,
            channel: "stub".parse().unwrap(),
            owner: Owner(1),
            term: Duration::from_secs(1),
            done: done.collect(),
            claim: claim.iter().map(|&p| (p, zone)).collect(),
            pending: None,
            at: instant,
        }
    }

    fn claimed() -> Claim {
        Claim::FRESH.claim(1, false).unwrap()
    }

    #[test]
    fn what_another_batch_holds_is_neither_booked_nor_claimed() {
        let step = step(&[(3, Outcome::Released), (4, Outcome::Delivered)], &[3, 5]);
        let hold = Hold { own: Runs::of([4]), others: Runs::of([3, 4, 5]) };
        let old = [claimed(), claimed(), Claim::FRESH];
        let turned = turn(&step, &hold, &touched(&step), &old);
        assert_eq!(turned.booked, [4]);
        assert_eq!(turned.claimed, [None, None]);
        assert_eq!(turned.now, [claimed(), claimed().deliver(), Claim::FRESH]);
        assert!(!turned.found);
    }

    #[test]
    fn what_nobody_holds_is_booked_and_taken_over_with_a_mark() {
        let step = step(&[(9, Outcome::Delivered)], &[7]);
        let turned = turn(&step, &Hold::default(), &touched(&step), &[claimed(), claimed()]);
        assert_eq!(turned.claimed, [claimed().claim(1, true)]);
        assert_eq!(turned.booked, [9]);
        assert!(turned.found);
    }

    #[test]
    fn what_is_set_free_can_be_claimed_in_the_same_step() {
        let step = step(&[(2, Outcome::Released)], &[2, 1]);
        let hold = Hold { own: Runs::of([2]), others: Runs::default() };
        let turned = turn(&step, &hold, &touched(&step), &[Claim::FRESH, claimed()]);
        assert_eq!(turned.claimed, [Some(claimed()), Some(claimed())]);
        assert_eq!(turned.deltas.iter().count(), 0, "open before and after");
    }
}
