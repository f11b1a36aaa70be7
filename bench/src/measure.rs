//! The one format of what is measured.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{bar::Bar, size::Size};

/// CPU by process, servers included, in microseconds a user.
pub(crate) type CpuPerUser = BTreeMap<&'static str, f64>;

/// One figure of a bench.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measure {
    /// The bench.
    pub(crate) bench: &'static str,
    /// What was measured.
    pub(crate) name: &'static str,
    /// At which size.
    pub(crate) size: Size,
    /// The figure.
    pub(crate) ours: f64,
    /// Its unit.
    pub(crate) unit: &'static str,
    /// The same of the program ours is compared with, measured in the same run.
    pub(crate) baseline: Option<f64>,
    /// What it cost.
    pub(crate) cpu: CpuPerUser,
    /// What it must come to.
    pub(crate) bar: Option<Bar>,
}

impl Measure {
    /// Ours over the baseline.
    pub(crate) fn ratio(&self) -> Option<f64> {
        self.baseline.filter(|b| *b != 0.0).map(|b| self.ours / b)
    }

    /// Whether its bar holds; without one it does.
    pub(crate) fn holds(&self) -> bool {
        self.bar.is_none_or(|bar| bar.holds(self.ours, self.ratio()))
    }

    /// `{"bench","measure","size","ours","unit","baseline","ratio","cpu_us_per_user","bar","holds"}`, in this order:
    /// `baseline`, `ratio` and `bar` null where there is none, `cpu_us_per_user` an object by process.
    pub(crate) fn json(&self) -> String {
        let line = Line {
            bench: self.bench,
            measure: self.name,
            size: self.size,
            ours: rounded(self.ours),
            unit: self.unit,
            baseline: self.baseline.map(rounded),
            ratio: self.ratio().map(rounded),
            cpu_us_per_user: self.cpu.iter().map(|(process, us)| (*process, rounded(*us))).collect(),
            bar: self.bar.map(|b| b.to_string()),
            holds: self.holds(),
        };
        // texts and numbers: nothing of it can fail to be written
        serde_json::to_string(&line).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct Line {
    bench: &'static str,
    measure: &'static str,
    size: Size,
    ours: f64,
    unit: &'static str,
    baseline: Option<f64>,
    ratio: Option<f64>,
    cpu_us_per_user: CpuPerUser,
    bar: Option<String>,
    holds: bool,
}

/// Three decimals: nothing is measured finer.
fn rounded(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure() -> Measure {
        Measure {
            bench: "embedded",
            name: "night",
            size: Size::Medium,
            ours: 2.5,
            unit: "s",
            baseline: None,
            cpu: CpuPerUser::from([("stepcast", 12.345_678)]),
            bar: Some(Bar::AtMost(10.0)),
        }
    }

    #[test]
    fn the_fields_are_those_of_the_format() {
        let text = concat!(
            r#"{"bench":"embedded","measure":"night","size":"medium","ours":2.5,"unit":"s","baseline":null,"#,
            r#""ratio":null,"cpu_us_per_user":{"stepcast":12.346},"bar":"<= 10","holds":true}"#
        );
        assert_eq!(measure().json(), text);
    }

    #[test]
    fn a_ratio_is_ours_over_the_baseline() {
        let against = Measure { baseline: Some(5.0), bar: Some(Bar::RatioAtLeast(0.6)), ..measure() };
        assert_eq!((against.ratio(), against.holds()), (Some(0.5), false));
        assert!(against.json().contains(r#""baseline":5.0,"ratio":0.5,"#));
        let nothing = Measure { baseline: Some(0.0), bar: None, ..measure() };
        assert_eq!((nothing.ratio(), nothing.holds()), (None, true));
        assert!(nothing.json().ends_with(r#""bar":null,"holds":true}"#));
    }
}
