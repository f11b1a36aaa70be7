use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

use crate::{
    Reason,
    answer::{Counts, Result},
};

/// The figures of ingest.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    stored: Counter,
    repeats: Counter,
    refused: Family<Refusal, Counter>,
    turned_away: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refusal {
    reason: &'static str,
}

impl Metrics {
    /// Puts them into a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("stepcast_reports_stored", "Items answered as stored", self.stored.clone());
        registry.register(
            "stepcast_reports_repeated",
            "Items answered as held already",
            self.repeats.clone(),
        );
        registry.register("stepcast_reports_refused", "Items refused, by reason", self.refused.clone());
        let help = "Requests turned away for want of room or by a caller's limit";
        registry.register("stepcast_reports_turned_away", help, self.turned_away.clone());
    }

    pub(crate) fn count(&self, counts: Counts, results: &[Result]) {
        self.stored.inc_by(counts.stored);
        self.repeats.inc_by(counts.repeats);
        if counts.refused == 0 {
            return;
        }
        for reason in Reason::ALL {
            let of = |result: &&Result| matches!(result, Result::Refused(why) if why.reason == reason);
            let count = results.iter().filter(of).count() as u64;
            if count > 0 {
                self.refused.get_or_create(&Refusal { reason: reason.name() }).inc_by(count);
            }
        }
    }

    pub(crate) fn turned_away(&self) {
        self.turned_away.inc();
    }
}
