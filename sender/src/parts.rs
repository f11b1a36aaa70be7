use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use directory::Directory;
use domain::{Campaign, CampaignName, ChannelName};
use job_queue::{JobQueue, Ladder};
use night_ledger::{NightLedger, Owner};
use plumbing::Clock;
use step_store::StepStore;

use crate::{Guard, Limits, Metrics, Settings, Texts, brakes::KnownBrakes, channel::Channel};

/// What a sender works with.
pub struct Parts {
    /// Who people are.
    pub directory: Arc<dyn Directory>,
    /// What people walked.
    pub steps: Arc<dyn StepStore>,
    /// Where batches come from.
    pub queue: Arc<dyn JobQueue>,
    /// What came of them.
    pub ledger: Arc<dyn NightLedger>,
    /// The campaigns with their texts.
    pub campaigns: HashMap<CampaignName, (Campaign, Texts)>,
    /// The channels that are set up.
    pub lines: BTreeMap<ChannelName, Line>,
    /// The delay ladder, as the queue has it.
    pub ladder: Ladder,
    /// The settings.
    pub settings: Settings,
    /// Where "now" comes from.
    pub clock: Arc<Clock>,
    /// The figures.
    pub metrics: Metrics,
    /// As whom this sender announces itself among the others, drawn at random at each start of a process.
    pub owner: Owner,
    /// Shut by whoever watches the stores, while it is not safe to push.
    pub guard: Guard,
}

/// A channel with its local limits.
pub struct Line {
    /// Its name.
    pub name: ChannelName,
    /// The provider.
    pub channel: Arc<dyn Channel>,
    /// The local side of the provider's quota.
    pub limits: Limits,
    /// What operators put on the nights that are worked here.
    pub(crate) brakes: KnownBrakes,
    /// Refusals for quota since the last push that was accepted.
    throttles: AtomicU32,
    /// Pushes since the last accepted one that were answered as if the channel took nothing; `u32::MAX` before the first.
    stops: AtomicU32,
}

/// So many pushes in a row that are answered as if the channel took nothing, and it is taken at its word.
const STOPS: u32 = 20;

impl Line {
    /// A channel and its limits.
    pub fn new(name: ChannelName, channel: Arc<dyn Channel>, limits: Limits) -> Self {
        let (throttles, stops) = (AtomicU32::new(0), AtomicU32::new(u32::MAX));
        Self { name, channel, limits, brakes: KnownBrakes::default(), throttles, stops }
    }

    /// The provider asked for less: the whole channel pauses for as long as it said, or else longer each time. Of a burst
    /// that was refused together only the first counts.
    pub(crate) fn throttle(&self, asked: Option<Duration>, settings: &Settings) {
        if asked.is_none() && self.limits.paused().is_some() {
            return;
        }
        let times = self.throttles.fetch_add(1, Ordering::Relaxed).min(31);
        let longer = settings.backoff.0.saturating_mul(1 << times.min(16)).min(settings.longest_backoff.0);
        self.limits.throttle(asked.unwrap_or_else(|| jittered(longer, u64::from(times))));
    }

    /// The provider answered as if it took nothing at all: whether it did take others just before, so that only this one
    /// push is meant.
    pub(crate) fn takes_others(&self) -> bool {
        let stops =
            self.stops.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| Some(n.saturating_add(1)));
        stops.is_ok_and(|before| before < STOPS)
    }

    /// The provider accepted a push.
    pub(crate) fn accepted(&self) {
        if self.stops.load(Ordering::Relaxed) > 0 {
            self.stops.store(0, Ordering::Relaxed);
        }
        if self.throttles.load(Ordering::Relaxed) > 0 {
            self.throttles.store(0, Ordering::Relaxed);
        }
    }
}

/// The wait before attempt `attempt`: `backoff`, doubled for each attempt after the second, at most `longest_backoff`.
pub(crate) fn backoff(settings: &Settings, attempt: u8) -> Duration {
    let doublings = u32::from(attempt.saturating_sub(2)).min(20);
    settings.backoff.0.saturating_mul(1 << doublings).min(settings.longest_backoff.0)
}

/// `wait` and up to a fifth more, by a hash of `seed`: what failed together does not come back together.
pub(crate) fn jittered(wait: Duration, seed: u64) -> Duration {
    let hash = xxhash_rust::xxh3::xxh3_64(&seed.to_le_bytes()) % 1_000;
    wait + wait.mul_f64(0.2 * f64::from(u32::try_from(hash).unwrap_or_default()) / 1_000.0)
}

#[cfg(test)]
mod tests {
    use plumbing::Span;

    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let settings = Settings {
            batches_at_once: 1,
            chunk: 1,
            attempts: 5,
            lease: Span::seconds(60),
            ladder: vec![Span::seconds(5)],
            backoff: Span::seconds(5),
            longest_backoff: Span::seconds(60),
            quota_wait: Span::seconds(5),
        };
        let waits: Vec<_> = (2..=8).map(|attempt| backoff(&settings, attempt).as_secs()).collect();
        assert_eq!(waits, [5, 10, 20, 40, 60, 60, 60]);
        for seed in 0..1_000 {
            let wait = jittered(Duration::from_secs(100), seed);
            assert!(wait >= Duration::from_secs(100) && wait <= Duration::from_secs(120));
        }
    }
}
