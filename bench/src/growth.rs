//! Whether a user costs no more where there are ten times as many.

use crate::{bar::Bar, measure::Measure, size::Size};

/// CPU a user at large may be so many times that at medium.
const MOST_GROWTH: f64 = 1.25;

/// For each measure with a bar and a cost that was taken at medium and at large: the CPU a user of all processes
/// together at large, with that at medium as the baseline.
pub(crate) fn growth(measures: &[Measure]) -> Vec<Measure> {
    let costly = |m: &&Measure| m.bar.is_some() && !m.cpu.is_empty();
    let large = measures.iter().filter(costly).filter(|m| m.size == Size::Large);
    let pairs = large.filter_map(|large| {
        let same = |m: &&Measure| m.name == large.name && m.size == Size::Medium;
        Some((large, measures.iter().filter(costly).find(same)?))
    });
    let grown = pairs.map(|(large, medium)| Measure {
        unit: "CPU us/user",
        ours: large.cpu.values().sum(),
        baseline: Some(medium.cpu.values().sum()),
        bar: Some(Bar::RatioAtMost(MOST_GROWTH)),
        ..large.clone()
    });
    grown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::CpuPerUser;

    fn measure(name: &'static str, size: Size, cpu: &[(&'static str, f64)]) -> Measure {
        Measure {
            bench: "night",
            name,
            size,
            ours: 1.0,
            unit: "s",
            baseline: None,
            cpu: cpu.iter().copied().collect::<CpuPerUser>(),
            bar: Some(Bar::AtMost(10.0)),
        }
    }

    #[test]
    fn servers_count_too() {
        let measures = [
            measure("stub", Size::Medium, &[("stepcast", 6.0), ("redis", 4.0)]),
            measure("stub", Size::Large, &[("stepcast", 6.0), ("redis", 7.0)]),
            measure("free", Size::Large, &[]),
        ];
        let grown = growth(&measures);
        assert_eq!(grown.len(), 1);
        assert_eq!((grown[0].ours, grown[0].baseline, grown[0].holds()), (13.0, Some(10.0), false));
    }

    #[test]
    fn one_size_alone_is_compared_with_nothing() {
        assert!(growth(&[measure("stub", Size::Medium, &[("stepcast", 6.0)])]).is_empty());
    }
}
