use std::time::Duration;

/// The steps of a delay ladder: how long a message can be put aside in one go. A longer wait is made of several hops.
///
/// There is one delay queue a step, and every message in it waits equally long, so that none waits behind another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder(Vec<Duration>);

/// Steps that make no ladder.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadLadder {
    /// None or too many.
    #[error("the ladder has {0} steps: 1 to {MOST_STEPS} are wanted")]
    Count(usize),
    /// A step that no queue can keep.
    #[error("step {index} of the ladder is {step:?}: whole milliseconds from 1ms to 24h are wanted")]
    Step {
        /// Which one, counted from 1.
        index: usize,
        /// Its length.
        step: Duration,
    },
    /// A step that is not above the one before.
    #[error("step {index} of the ladder is {step:?}: it must be above the one before, {before:?}")]
    Order {
        /// Which one, counted from 1.
        index: usize,
        /// Its length.
        step: Duration,
        /// The length of the one before.
        before: Duration,
    },
}

/// The most steps of a ladder.
pub const MOST_STEPS: usize = 16;
/// The longest step: past a day no push is inside its deadline.
const LONGEST: Duration = Duration::from_hours(24);

impl Ladder {
    /// A ladder of 1 to 16 rising steps, each whole milliseconds and at most a day.
    pub fn new(steps: Vec<Duration>) -> Result<Self, BadLadder> {
        if !(1..=MOST_STEPS).contains(&steps.len()) {
            return Err(BadLadder::Count(steps.len()));
        }
        for (index, &step) in (1..).zip(&steps) {
            if step.is_zero() || step > LONGEST || step.subsec_nanos() % 1_000_000 != 0 {
                return Err(BadLadder::Step { index, step });
            }
        }
        for (index, pair) in (2..).zip(steps.windows(2)) {
            if pair[1] <= pair[0] {
                return Err(BadLadder::Order { index, step: pair[1], before: pair[0] });
            }
        }
        Ok(Self(steps))
    }

    /// The steps, the shortest first.
    pub fn steps(&self) -> &[Duration] {
        &self.0
    }

    /// Which step a message takes that has `wait` to go: the longest that is not above it, or the shortest if all are.
    /// Hop by hop it arrives at most the shortest step late, and never early.
    pub fn step_for(&self, wait: Duration) -> usize {
        self.0.partition_point(|&step| step <= wait).saturating_sub(1)
    }

    /// How long a message stays on the step that [`Self::step_for`] names.
    pub fn hop(&self, wait: Duration) -> Duration {
        self.0.get(self.step_for(wait)).copied().unwrap_or_default()
    }

    /// The longest step.
    pub fn longest(&self) -> Duration {
        self.0.last().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ladder(ms: &[u64]) -> Result<Ladder, BadLadder> {
        Ladder::new(ms.iter().copied().map(Duration::from_millis).collect())
    }

    #[test]
    fn takes_the_longest_step_not_above_the_wait() {
        let ladder = ladder(&[200, 1_000, 3_000]).unwrap();
        for (wait, step) in
            [(0, 0), (1, 0), (200, 0), (999, 0), (1_000, 1), (2_999, 1), (3_000, 2), (90_000, 2)]
        {
            assert_eq!(ladder.step_for(Duration::from_millis(wait)), step, "{wait}");
        }
        assert_eq!(ladder.longest(), Duration::from_secs(3));
    }

    #[test]
    fn what_is_no_ladder_is_refused_by_step() {
        assert_eq!(ladder(&[]), Err(BadLadder::Count(0)));
        assert_eq!(ladder(&(1..=17).collect::<Vec<_>>()), Err(BadLadder::Count(17)));
        assert!(ladder(&(1..=16).collect::<Vec<_>>()).is_ok());
        assert!(matches!(ladder(&[0, 5]), Err(BadLadder::Step { index: 1, .. })));
        assert!(matches!(ladder(&[5, 86_400_001]), Err(BadLadder::Step { index: 2, .. })));
        assert!(matches!(ladder(&[5, 9, 9]), Err(BadLadder::Order { index: 3, .. })));
        let fine = Ladder::new(vec![Duration::from_micros(1_500)]);
        assert!(matches!(fine, Err(BadLadder::Step { index: 1, .. })));
    }

    proptest! {
        #[test]
        fn hops_end_at_most_the_shortest_step_late(
            steps in prop::collection::btree_set(1u64..5_000, 1..=16),
            wait in 1u64..20_000,
        ) {
            let ladder = ladder(&steps.into_iter().collect::<Vec<_>>()).unwrap();
            let wait = Duration::from_millis(wait);
            let mut gone = Duration::ZERO;
            while gone < wait {
                gone += ladder.hop(wait - gone);
            }
            prop_assert!(gone - wait < ladder.steps()[0]);
        }
    }
}
