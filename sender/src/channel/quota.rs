use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// What a provider allows; all senders together stay below it. Absent means no limit of that kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Quota {
    /// Pushes a second.
    pub per_second: Option<NonZeroU32>,
    /// Pushes a minute; refused ones count.
    pub per_minute: Option<NonZeroU32>,
    /// Pushes in flight, 1 to 100,000. A sender among many that starts, or joins others, uses its part of them when every push that
    /// another may have begun before is over: after the time limit of the channel.
    pub in_flight: Option<NonZeroU32>,
}

impl Quota {
    /// Whether nothing is limited.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// The part of it that falls to the `index`-th of `n`: of each limit `q` that is set,
    /// `floor(q * (index + 1) / n) - floor(q * index / n)`, which adds up to `q`. `None` where that is 0 of one of them:
    /// then nothing may be pushed.
    pub fn share(&self, index: usize, n: usize) -> Option<Self> {
        let part = |limit: Option<NonZeroU32>| match limit {
            None => Some(None),
            Some(limit) => part(limit, index, n).map(Some),
        };
        Some(Self {
            per_second: part(self.per_second)?,
            per_minute: part(self.per_minute)?,
            in_flight: part(self.in_flight)?,
        })
    }

    /// The smaller of two shares of one quota, limit by limit.
    pub fn min(self, other: &Self) -> Self {
        Self {
            per_second: self.per_second.min(other.per_second),
            per_minute: self.per_minute.min(other.per_minute),
            in_flight: self.in_flight.min(other.in_flight),
        }
    }
}

fn part(limit: NonZeroU32, index: usize, n: usize) -> Option<NonZeroU32> {
    let (index, n) = (u64::try_from(index).ok()?, u64::try_from(n).ok()?);
    let upto = |index: u64| u64::from(limit.get()).checked_mul(index)?.checked_div(n);
    let part = upto(index.checked_add(1)?)?.checked_sub(upto(index)?)?;
    NonZeroU32::new(u32::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shares_add_up_to_the_quota(limit in 1u32..5_000, n in 1usize..40) {
            let quota = Quota { per_second: NonZeroU32::new(limit), ..Quota::default() };
            let shares: Vec<_> = (0..n).map(|i| quota.share(i, n)).collect();
            let parts = shares.iter().flatten().filter_map(|s| s.per_second).map(NonZeroU32::get);
            prop_assert_eq!(parts.sum::<u32>(), limit);
            prop_assert!(shares.iter().flatten().all(|s| s.per_minute.is_none() && s.in_flight.is_none()));
        }
    }

    #[test]
    fn a_share_of_nothing_is_no_share() {
        let quota =
            Quota { per_second: NonZeroU32::new(100), in_flight: NonZeroU32::new(1), per_minute: None };
        assert_eq!([0, 1].map(|i| quota.share(i, 2).is_some()), [false, true]);
        assert_eq!(Quota::default().share(1, 2), Some(Quota::default()));
        assert_eq!(quota.share(0, 0), None);
    }
}
