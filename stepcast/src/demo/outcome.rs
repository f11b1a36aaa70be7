//! What came of the night, from the ledger.

use domain::Night;
use night_ledger::{Line, Sums};
use sender::Parts;
use serde_json::{Map, Value, json};

use super::{fill::Census, tally::Tally, walk::Counts};
use crate::ops::report;

/// The night as it ended.
pub(super) struct Outcome {
    /// Which.
    pub(super) night: Night,
    /// Who was put in.
    pub(super) census: Census,
    /// The sums as counted while it went on.
    pub(super) sums: Sums,
    /// Whether a recount from the claims gives the same.
    pub(super) agrees: bool,
    /// What came of the day's reports.
    pub(super) day: Counts,
    /// What the claims tell beside.
    pub(super) tally: Tally,
    /// Tries that failed and were made again.
    pub(super) retries: u64,
    /// Seconds of real time, the putting in of the population included.
    pub(super) seconds: f64,
}

/// The terms of the JSON object, in their order; `users`, `unknown` and `seconds` are not among those of the sums.
const TERMS: [&str; 19] = [
    "users",
    "due",
    "delivered",
    "suppressed",
    "expired",
    "missed",
    "aborted",
    "rejected",
    "dead",
    "uncertain",
    "open",
    "unknown",
    "duplicates",
    "reports",
    "stored",
    "repeats",
    "refused",
    "mismatch",
    "seconds",
];

/// Whether the sums of a night and a recount of it agree, lines that nobody was ever due in aside.
pub(super) async fn recounted(parts: &Parts, night: &Night) -> anyhow::Result<(Sums, bool)> {
    let (sums, recount) = (parts.ledger.sums(night).await?, parts.ledger.recount(night).await?);
    let agrees = sums.agrees(&recount);
    Ok((sums, agrees))
}

impl Outcome {
    /// Whether everything is accounted for.
    pub(super) fn whole(&self) -> bool {
        let total = self.sums.total();
        total.unknown() == 0 && total.open == 0 && self.agrees && self.day.mismatch == 0
    }

    /// The object of `--json`, on one line and in the order in which it is documented.
    pub(super) fn json(&self) -> String {
        let values = values(&self.sums.total(), self.census.users, self.day, self.seconds);
        let terms =
            TERMS.iter().map(|term| format!("\"{term}\":{}", values.get(*term).unwrap_or(&Value::Null)));
        format!("{{{}}}", terms.collect::<Vec<_>>().join(","))
    }
}

fn values(total: &Line, users: u64, day: Counts, seconds: f64) -> Map<String, Value> {
    let mut values: Map<_, _> =
        report::terms(total).into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect();
    values.insert("users".into(), json!(users));
    values.insert("unknown".into(), json!(total.unknown()));
    let Counts { reports, stored, repeats, refused, mismatch } = day;
    for (name, count) in [
        ("reports", reports),
        ("stored", stored),
        ("repeats", repeats),
        ("refused", refused),
        ("mismatch", mismatch),
    ] {
        values.insert(name.into(), json!(count));
    }
    values.insert("seconds".into(), json!((seconds * 1_000.0).round() / 1_000.0));
    values
}

#[cfg(test)]
mod tests {
    use night_ledger::Reason;

    use super::*;

    fn outcome(due: u64, delivered: u64, open: u64) -> Outcome {
        let mut line = Line { due, delivered, open, ..Line::default() };
        line.reasons[usize::from(Reason::NoSteps.code())] = 3;
        let mut sums = Sums::default();
        sums.add("Asia/Tokyo".parse().unwrap(), domain::Shard(0), "stub".parse().unwrap(), &line);
        Outcome {
            night: Night { campaign: "nightly".parse().unwrap(), day: "20260607".parse().unwrap() },
            census: Census { users: 12, ..Census::default() },
            sums,
            agrees: true,
            day: Counts { reports: 9, stored: 6, repeats: 2, refused: 1, mismatch: 0 },
            tally: Tally::default(),
            retries: 2,
            seconds: 1.23456,
        }
    }

    #[test]
    fn the_object_has_every_term_in_its_order() {
        let text = outcome(10, 7, 0).json();
        assert_eq!(
            text,
            "{\"users\":12,\"due\":10,\"delivered\":7,\"suppressed\":3,\"expired\":0,\"missed\":0,\"aborted\":0,\
             \"rejected\":0,\"dead\":0,\"uncertain\":0,\"open\":0,\"unknown\":0,\"duplicates\":0,\"reports\":9,\"stored\":6,\"repeats\":2,\
             \"refused\":1,\"mismatch\":0,\"seconds\":1.235}"
        );
        let object: Map<String, Value> = serde_json::from_str(&text).unwrap();
        assert!(object.len() == TERMS.len() && object.values().all(Value::is_number));
    }

    #[test]
    fn what_is_open_unknown_or_disagrees_is_a_failure() {
        assert!(outcome(10, 7, 0).whole());
        assert!(!outcome(10, 6, 1).whole(), "open");
        assert!(!outcome(10, 6, 0).whole(), "unknown");
        let day = Counts { mismatch: 1, ..Counts::default() };
        assert!(!Outcome { day, ..outcome(10, 7, 0) }.whole(), "a number differs");
        assert!(!Outcome { agrees: false, ..outcome(10, 7, 0) }.whole());
    }
}
