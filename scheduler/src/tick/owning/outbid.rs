use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use domain::{Night, Shard};
use night_ledger::StoreError;

/// A place that is outbid for so long is no other scheduler's: nobody publishes it.
const LONGEST: Duration = Duration::from_secs(5);

/// Nights' shards whose lease is ours and that the ledger holds under a higher epoch, each since when.
#[derive(Default)]
pub(in crate::tick) struct Outbid(BTreeMap<(Night, Shard), Instant>);

impl Outbid {
    /// Notes one at `now`; answers whether it was not known yet.
    pub(super) fn note(&mut self, night: &Night, shard: Shard, now: Instant) -> bool {
        let mut new = false;
        self.0.entry((night.clone(), shard)).or_insert_with(|| {
            new = true;
            now
        });
        new
    }

    /// Notes that one is accepted as ours.
    pub(super) fn accepted(&mut self, night: &Night, shard: Shard) {
        self.0.remove(&(night.clone(), shard));
    }

    /// Keeps those that may still be ours.
    pub(super) fn retain(&mut self, ours: impl Fn(&Night, Shard) -> bool) {
        self.0.retain(|(night, shard), _| ours(night, *shard));
    }

    /// The error of those that lasted too long at `now`.
    pub(super) fn lasting(&self, now: Instant) -> Result<(), StoreError> {
        let lasting = || self.0.iter().filter(|(_, since)| now.saturating_duration_since(**since) >= LONGEST);
        lasting().next().map_or(Ok(()), |((night, shard), _)| {
            let (count, secs) = (lasting().count(), LONGEST.as_secs());
            Err(StoreError::Unavailable(format!(
                "{count} nights' shards wait under a higher epoch than their lease's for more than {secs} s: the first is shard {shard} of {night}",
            )))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_stays_outbid_is_an_error() {
        let night = Night { campaign: "nightly".parse().unwrap(), day: "20260510".parse().unwrap() };
        let (mut outbid, now) = (Outbid::default(), Instant::now());
        assert!(outbid.note(&night, Shard(3), now));
        assert!(!outbid.note(&night, Shard(3), now + LONGEST / 2), "known since before");
        assert!(outbid.note(&night, Shard(4), now + LONGEST / 2));
        assert!(outbid.lasting(now + LONGEST / 2).is_ok());
        let error = outbid.lasting(now + LONGEST).unwrap_err().to_string();
        assert!(error.contains("1 nights' shards") && error.contains("shard 3"), "{error}");
        outbid.accepted(&night, Shard(3));
        assert!(outbid.lasting(now + LONGEST).is_ok());
        outbid.retain(|_, shard| shard == Shard(3));
        assert!(outbid.lasting(now + LONGEST * 2).is_ok());
    }
}
