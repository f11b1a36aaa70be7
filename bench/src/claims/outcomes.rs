use domain::Uid;
use night_ledger::{Outcome, Reason, Seal};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What comes of the users of a night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcomes {
    /// Everybody is delivered at the first attempt: the claims of a block stay alike.
    Delivered,
    /// By the uid's hash: of 1,000 users 100 have no steps, 20 are delivered at the second attempt only, and the devices
    /// of 5 are gone. The others are delivered at once.
    Mixed,
}

/// How the users of a night end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) delivered: u64,
    pub(super) no_steps: u64,
    pub(super) gone: u64,
}

/// Not the hash by which users are dealt to shards: each shard has its share of everything.
const SEED: u64 = 0x6d_6978_6564;

impl Outcomes {
    /// What comes of a user's first attempt. A second one is delivered.
    pub(super) fn first(self, uid: Uid) -> Outcome {
        match self {
            Self::Delivered => Outcome::Delivered,
            Self::Mixed => match xxh3_64_with_seed(&uid.0.to_le_bytes(), SEED) % 1_000 {
                0..100 => Outcome::Closed(Reason::NoSteps),
                100..120 => Outcome::Retry { maybe: false },
                120..125 => Outcome::Closed(Reason::DeviceGone),
                _ => Outcome::Delivered,
            },
        }
    }

    /// How the users of some seals end.
    pub(super) fn ends<'a>(self, seals: impl IntoIterator<Item = &'a Seal>) -> Ends {
        let mut ends = Ends::default();
        for due in seals.into_iter().flat_map(|seal| &seal.due) {
            match self.first(due.uid) {
                Outcome::Closed(Reason::NoSteps) => ends.no_steps += 1,
                Outcome::Closed(_) => ends.gone += 1,
                _ => ends.delivered += 1,
            }
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        hour::hour,
        seals::{Uids, seals},
    };

    #[test]
    fn every_shard_has_its_share_of_each_outcome() {
        let hour = hour(chrono::Utc::now()).unwrap();
        let seals = seals(640_000, Uids::Dense, &hour, 1, "nightly").unwrap();
        for (key, seal) in &seals {
            let retried = seal.due.iter().map(|due| Outcomes::Mixed.first(due.uid));
            let retried = retried.filter(|outcome| *outcome == Outcome::Retry { maybe: false }).count();
            let ends = Outcomes::Mixed.ends([seal]);
            assert!((800..1_200).contains(&ends.no_steps), "{key}: {ends:?}");
            assert!((120..280).contains(&retried), "{key}: {retried}");
            assert!((20..90).contains(&ends.gone), "{key}: {ends:?}");
            let all = Outcomes::Delivered.ends([seal]);
            assert_eq!(all, Ends { delivered: seal.due.len() as u64, ..Ends::default() });
        }
    }
}
