use std::sync::Arc;

use directory::{Directory, KeyRing, TokenKeys};
use plumbing::{Clock, http::Budget};
use step_store::StepStore;

use crate::{Metrics, Settings, gatherer::Gatherer, homes::Homes, throttle::Throttle};

/// What ingest works with.
pub struct Parts {
    /// Who people are.
    pub directory: Arc<dyn Directory>,
    /// What people walked.
    pub steps: Arc<dyn StepStore>,
    /// Who may call.
    pub keys: KeyRing,
    /// By what user tokens are judged.
    pub tokens: Arc<TokenKeys>,
    /// Where "now" comes from.
    pub clock: Arc<Clock>,
    /// The settings.
    pub settings: Settings,
    /// The figures.
    pub metrics: Metrics,
}

/// Ingest, built and ready to serve.
pub struct Edge {
    pub(crate) parts: Parts,
    pub(crate) homes: Arc<Homes>,
    pub(crate) gatherer: Gatherer,
    pub(crate) throttle: Throttle,
    pub(crate) budget: Budget,
}

impl Edge {
    /// Its figures.
    pub fn metrics(&self) -> &Metrics {
        &self.parts.metrics
    }

    /// Builds it; needs a runtime, on which the calls of the step store run.
    pub fn new(parts: Parts) -> Arc<Self> {
        let mib = usize::try_from(parts.settings.bodies_mib.get()).unwrap_or(usize::MAX);
        Arc::new(Self {
            homes: Arc::new(Homes::new(Arc::clone(&parts.directory))),
            gatherer: Gatherer::new(Arc::clone(&parts.steps), Arc::clone(&parts.clock)),
            throttle: Throttle::new(&parts.settings),
            budget: Budget::new(mib.saturating_mul(1 << 20)),
            parts,
        })
    }
}
