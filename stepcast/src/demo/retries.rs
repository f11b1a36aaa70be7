use prometheus_client::{encoding::text::encode, registry::Registry};
use sender::Metrics;

/// Counts retries from the sender's figures, as whoever scrapes `/metrics` does.
pub(super) struct Retries(Registry);

impl Retries {
    /// Of this sender.
    pub(super) fn of(metrics: &Metrics) -> Self {
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        Self(registry)
    }

    /// Tries since the start that failed and were put aside for another.
    pub(super) fn count(&self) -> u64 {
        let mut text = String::new();
        // a String takes everything
        let _ = encode(&mut text, &self.0);
        sum(&text)
    }
}

/// The sum of the retries of all channels in a page of figures.
fn sum(page: &str) -> u64 {
    let ours = |line: &&str| line.contains("sender_users_total{") && line.contains("outcome=\"retry\"");
    page.lines().filter(ours).filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_of_all_channels_add_up() {
        let page = "# TYPE stepcast_sender_users counter\n\
            stepcast_sender_users_total{channel=\"stub\",outcome=\"delivered\"} 90\n\
            stepcast_sender_users_total{channel=\"stub\",outcome=\"retry\"} 5\n\
            stepcast_sender_users_total{channel=\"hook\",outcome=\"retry\"} 7\n\
            stepcast_sender_batches_total{channel=\"stub\",outcome=\"retry\"} 100\n# EOF\n";
        assert_eq!(sum(page), 12);
        assert_eq!((sum(""), sum("sender_users_total{outcome=\"retry\"} many")), (0, 0));
        assert_eq!(Retries::of(&Metrics::default()).count(), 0);
    }
}
