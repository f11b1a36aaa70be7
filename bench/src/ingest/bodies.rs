use std::fmt::Write;

use xxhash_rust::xxh3::xxh3_64;

/// What is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A running total, above the one before.
    Totals,
    /// An increment with an id of its own.
    Increments,
}

/// Items of a batch.
pub(super) const BATCH: u64 = 500;

/// Batches of reports of users drawn by lot, made before the clock starts. Each round has its own.
pub(super) fn of(kind: Kind, reports: u64, users: u64, round: u32) -> Vec<String> {
    let at = chrono::Utc::now().format("%Y-%m-%dT%H:%M:%SZ").to_string();
    let batch = |first: u64| {
        let mut body = String::with_capacity(60_000);
        body.push('[');
        for number in first..reports.min(first + BATCH) {
            let draw = xxh3_64(&[u64::from(round), number].map(u64::to_le_bytes).concat());
            let uid = 1 + draw % users;
            let end = if number == first { "" } else { "," };
            // writing into a string cannot fail
            let _ = match kind {
                Kind::Totals => {
                    let total = u64::from(round) * 10_000 + (draw >> 40) % 10_000;
                    write!(body, r#"{end}{{"uid":{uid},"at":"{at}","total":{total},"source":"watch"}}"#)
                }
                Kind::Increments => {
                    let (steps, id) = ((draw >> 40) % 100, format_args!("{round}-{number}"));
                    write!(
                        body,
                        r#"{end}{{"uid":{uid},"at":"{at}","steps":{steps},"source":"phone","id":"{id}"}}"#
                    )
                }
            };
        }
        body.push(']');
        body
    };
    (0..reports).step_by(usize::try_from(BATCH).unwrap_or(1)).map(batch).collect()
}
