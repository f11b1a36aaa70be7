//! The answer to a batch, written as it is counted: `{"results":[...],"stored":n,"repeats":n,"refused":n}`.

use std::fmt::Write;

use step_store::Reported;

use crate::item::Refused;

/// What came of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Result {
    Stored(u32),
    Repeat(u32),
    Refused(Refused),
}

/// What came of a batch, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) stored: u64,
    pub(crate) repeats: u64,
    pub(crate) refused: u64,
}

impl From<Reported> for Result {
    fn from(reported: Reported) -> Self {
        match reported {
            Reported::Stored(steps) => Self::Stored(steps),
            Reported::Repeat(steps) => Self::Repeat(steps),
            Reported::Refused(why) => Self::Refused(Refused::of(why.into())),
        }
    }
}

/// The body, and what it counts.
pub(crate) fn body(results: &[Result]) -> (String, Counts) {
    let mut counts = Counts::default();
    let mut to = String::with_capacity(48 + results.len() * 36);
    to.push_str("{\"results\":[");
    for (place, result) in results.iter().enumerate() {
        if place > 0 {
            to.push(',');
        }
        counts.add(result);
        // writing into a string cannot fail
        let _ = match result {
            Result::Stored(steps) => write!(to, "{{\"status\":\"stored\",\"steps\":{steps}}}"),
            Result::Repeat(steps) => write!(to, "{{\"status\":\"repeat\",\"steps\":{steps}}}"),
            Result::Refused(Refused { reason, field: None }) => {
                write!(to, "{{\"status\":\"refused\",\"reason\":\"{}\"}}", reason.name())
            }
            Result::Refused(Refused { reason, field: Some(field) }) => {
                write!(
                    to,
                    "{{\"status\":\"refused\",\"reason\":\"{}\",\"field\":\"{field}\"}}",
                    reason.name()
                )
            }
        };
    }
    let Counts { stored, repeats, refused } = counts;
    let _ = write!(to, "],\"stored\":{stored},\"repeats\":{repeats},\"refused\":{refused}}}");
    (to, counts)
}

impl Counts {
    fn add(&mut self, result: &Result) {
        match result {
            Result::Stored(_) => self.stored += 1,
            Result::Repeat(_) => self.repeats += 1,
            Result::Refused(_) => self.refused += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;

    #[test]
    fn it_is_json_in_the_order_of_the_items() {
        let late = Refused::of(Reason::TooLate);
        let bad = Refused { reason: Reason::Malformed, field: Some("at") };
        let all = [Result::Stored(7), Result::Refused(bad), Result::Repeat(0), Result::Refused(late)];
        let (text, counts) = body(&all);
        assert_eq!(counts, Counts { stored: 1, repeats: 1, refused: 2 });
        let wanted = serde_json::json!({
            "results": [
                { "status": "stored", "steps": 7 },
                { "status": "refused", "reason": "malformed", "field": "at" },
                { "status": "repeat", "steps": 0 },
                { "status": "refused", "reason": "too_late" },
            ],
            "stored": 1, "repeats": 1, "refused": 2,
        });
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), wanted);
        assert_eq!(body(&[]).0, "{\"results\":[],\"stored\":0,\"repeats\":0,\"refused\":0}");
    }
}
