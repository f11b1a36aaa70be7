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
    /// By how many seconds the batch that is latest after its second was confirmed, or is waiting, in the last tick that had
    /// something to publish.
    pub slot_lag: Gauge<f64, AtomicU64>,
    /// The N of nights not sealed yet.
    pub shards: Gauge,
    /// Shards held by a lease.
    pub held: Gauge,
    /// Schedulers alive, this one included.
    pub members: Gauge,
    /// Users in the directory, as far as they are known here.
    pub users: Gauge,
    /// Bytes of memory for what is known of them.
    pub column_bytes: Gauge,
    /// When the last tick was done that left no error, in seconds since 1970, real time; the scheduler's start before the
    /// first.
    pub last_tick: Gauge<f64, AtomicU64>,
}

impl Metrics {
    /// How long ago the last whole tick was, in seconds of real time; never negative.
    pub fn since_last_tick(&self) -> f64 {
        (unix_now() - self.last_tick.get()).max(0.0)
    }

    /// Notes that a whole tick was done now.
    pub(crate) fn ticked(&self) {
        self.last_tick.set(unix_now());
    }

    /// Sets a gauge to a count.
    pub(crate) fn count<N: TryInto<i64>>(gauge: &Gauge, count: N) {
        gauge.set(count.try_into().unwrap_or(i64::MAX));
    }

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
        to.register(
            "slot_lag_seconds",
            "How late the latest batch is after its second",
            self.slot_lag.clone(),
        );
        to.register("shards", "Shards of nights not sealed yet", self.shards.clone());
        to.register("held_shards", "Shards held by a lease", self.held.clone());
        to.register("members", "Schedulers alive, this one included", self.members.clone());
        to.register("users", "Users in the directory, as far as they are known", self.users.clone());
        to.register("column_bytes", "Memory for what is known of the users", self.column_bytes.clone());
        to.register(
            "last_tick_timestamp_seconds",
            "When the last tick was done that left no error",
            self.last_tick.clone(),
        );
    }
}

fn unix_now() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
