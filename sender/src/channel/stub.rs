use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use domain::Identity;
use plumbing::Span;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::{Channel, Fault, Push, SetupError};

/// Settings of the stub.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct StubSettings {
    /// How long a push takes.
    #[serde(default = "no_time")]
    pub latency: Span,
    /// The share of tries that fail and are to be tried again, 0 to 1.
    #[serde(default)]
    pub error_rate: f64,
}

fn no_time() -> Span {
    Span::millis(0)
}

impl StubSettings {
    pub(super) fn faults(&self) -> Vec<SetupError> {
        let rate = self.error_rate;
        if (0.0..=1.0).contains(&rate) {
            return Vec::new();
        }
        vec![SetupError::new("error_rate", format!("0 to 1 is wanted, not {rate}"))]
    }
}

/// Pushes to nobody.
#[derive(Debug)]
pub struct Stub {
    settings: StubSettings,
    tries: AtomicU64,
    accepted: AtomicU64,
}

impl Stub {
    /// A stub; an error rate outside 0 to 1 counts as the nearer end.
    pub fn new(settings: StubSettings) -> Self {
        Self { settings, tries: AtomicU64::new(0), accepted: AtomicU64::new(0) }
    }

    /// Tries so far, failed ones too.
    pub fn tries(&self) -> u64 {
        self.tries.load(Ordering::Relaxed)
    }

    /// Pushes it accepted so far.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// The same sequence of pushes fails at the same places in every run; a retry is another try and has another draw.
    fn fails(&self, identity: &Identity, one_of: u64) -> bool {
        let mut drawn = [0; 20];
        drawn[..8].copy_from_slice(&identity.uid.0.to_le_bytes());
        drawn[8..12].copy_from_slice(&identity.day.number().to_le_bytes());
        drawn[12..].copy_from_slice(&one_of.to_le_bytes());
        let hash = xxh3_64_with_seed(&drawn, xxh3_64(identity.campaign.as_str().as_bytes()));
        let high = u32::try_from(hash >> 32).unwrap_or(u32::MAX);
        f64::from(high) / (f64::from(u32::MAX) + 1.0) < self.settings.error_rate
    }
}

#[async_trait]
impl Channel for Stub {
    async fn push(&self, push: &Push<'_>) -> Result<(), Fault> {
        let one_of = self.tries.fetch_add(1, Ordering::Relaxed);
        if !self.settings.latency.0.is_zero() {
            tokio::time::sleep(self.settings.latency.0).await;
        }
        if self.settings.error_rate > 0.0 && self.fails(push.identity, one_of) {
            return Err(Fault::Retry { after: None, maybe: false });
        }
        self.accepted.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn longest(&self) -> Duration {
        self.settings.latency.0
    }
}

#[cfg(test)]
mod tests {
    use domain::{Language, Uid};

    use super::*;

    fn stub(latency: Span, error_rate: f64) -> Stub {
        Stub::new(StubSettings { latency, error_rate })
    }

    async fn push(stub: &Stub, uid: u64) -> Result<(), Fault> {
        let identity = Identity {
            campaign: "nightly".parse().unwrap(),
            uid: Uid(uid),
            day: "20260607".parse().unwrap(),
        };
        stub.push(&Push {
            identity: &identity,
            key: &identity.to_string(),
            address: "a",
            language: &Language::default(),
            title: "t",
            body: "b",
            steps: 1,
            deadline: chrono::DateTime::UNIX_EPOCH,
        })
        .await
    }

    async fn run(stub: &Stub, users: u64) -> Vec<bool> {
        let mut accepted = Vec::new();
        for uid in 0..users {
            accepted.push(push(stub, uid).await.is_ok());
        }
        accepted
    }

    #[tokio::test]
    async fn the_share_of_failures_is_as_set_and_repeats_exactly() {
        let (one, other) = (stub(Span::millis(0), 0.2), stub(Span::millis(0), 0.2));
        let accepted = run(&one, 20_000).await;
        let failed = accepted.iter().filter(|a| !**a).count();
        assert!((3_700..4_300).contains(&failed), "{failed}");
        assert_eq!(accepted, run(&other, 20_000).await);
        assert_eq!((one.tries(), one.accepted()), (20_000, 20_000 - u64::try_from(failed).unwrap()));
    }

    #[tokio::test]
    async fn a_retry_may_succeed_where_the_first_try_failed() {
        let stub = stub(Span::millis(0), 0.5);
        let mut draws = Vec::new();
        for _ in 0..64 {
            draws.push(push(&stub, 7).await);
        }
        assert!(draws.contains(&Ok(())));
        assert!(draws.contains(&Err(Fault::Retry { after: None, maybe: false })));
    }

    #[tokio::test]
    async fn none_and_all_are_exact() {
        assert!(run(&stub(Span::millis(0), 0.0), 1_000).await.into_iter().all(|a| a));
        assert!(!run(&stub(Span::millis(0), 1.0), 1_000).await.into_iter().any(|a| a));
    }

    #[tokio::test(start_paused = true)]
    async fn a_push_takes_its_latency() {
        let before = tokio::time::Instant::now();
        push(&stub(Span::millis(30), 0.0), 1).await.unwrap();
        assert!(before.elapsed() >= Duration::from_millis(30));
    }
}
