use std::sync::atomic::AtomicU64;

use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge},
    registry::Registry,
};

/// Figures of a scheduler since its start.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// Users put into seals.
    pub sealed: Counter,
    /// Batches confirmed by the queue.
    pub published: Counter,
    /// Users counted as missed when their seal was closed.
    pub missed: Counter,
    /// Users published and never worked when their seal was closed: the alarm.
    pub never_worked: Counter,
    /// Ticks that failed and were tried again.
    pub failed_ticks: Counter,
    /// How late the last batch went out after its second, in seconds.
    pub slot_lag: Gauge<f64, AtomicU64>,
    /// The N of nights not sealed yet.
    pub shards: Gauge,
}

impl Metrics {
    /// Registers them, with names that start with `stepcast_scheduler_`.
    pub fn register(&self, registry: &mut Registry) {
        let to = registry.sub_registry_with_prefix("stepcast_scheduler");
        to.register("sealed_users", "Users put into seals", self.sealed.clone());
        to.register("published_batches", "Batches confirmed by the queue", self.published.clone());
        to.register("missed_users", "Users not published before their deadline", self.missed.clone());
        to.register(
            "never_worked_users",
            "Users published and never worked: an alarm",
            self.never_worked.clone(),
        );
        to.register("failed_ticks", "Ticks that failed and are tried again", self.failed_ticks.clone());
        to.register("slot_lag_seconds", "How late the last batch went out", self.slot_lag.clone());
        to.register("shards", "Shards of nights not sealed yet", self.shards.clone());
    }
}
