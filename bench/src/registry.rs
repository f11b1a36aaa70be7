//! The benches there are. A new one is a module with a `BENCH`, named here.

use std::{path::Path, pin::Pin};

use clap::builder::PossibleValuesParser;

use crate::{
    bar::Bar,
    claims, embedded, enqueue, feed, ingest,
    measure::{CpuPerUser, Measure},
    midnight, night, peers,
    report::Report,
    roster,
    size::Size,
    store,
};

/// All benches.
pub(crate) const BENCHES: [Bench; 10] = [
    claims::BENCH,
    embedded::BENCH,
    enqueue::BENCH,
    feed::BENCH,
    ingest::BENCH,
    midnight::BENCH,
    night::BENCH,
    peers::BENCH,
    roster::BENCH,
    store::BENCH,
];

/// A bench.
pub(crate) struct Bench {
    /// Its name on the command line and in what is printed.
    pub(crate) name: &'static str,
    /// What it measures, in a line.
    pub(crate) about: &'static str,
    /// Users, or whatever it counts, at medium.
    pub(crate) users: u64,
    /// Bytes of memory a user it needs, the bench's own included; a size that does not fit is not tried.
    pub(crate) memory: u64,
    /// Measures. An error means that the work was not done, or done wrong.
    pub(crate) run: for<'a> fn(&'a mut Run<'_>) -> Running<'a>,
}

/// A bench at work.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = anyhow::Result<()>> + 'a>>;

/// What a bench works with.
pub(crate) struct Run<'r> {
    /// The bench.
    pub(crate) bench: &'static str,
    /// How large.
    pub(crate) size: Size,
    /// Users at this size.
    pub(crate) users: u64,
    /// The release build of `stepcast`.
    pub(crate) program: &'r Path,
    /// Where measures go.
    pub(crate) report: &'r mut Report,
}

impl Run<'_> {
    /// Reports a figure without a baseline.
    pub(crate) fn tell(
        &mut self,
        name: &'static str,
        ours: f64,
        unit: &'static str,
        cpu: CpuPerUser,
        bar: Option<Bar>,
    ) {
        self.tell_against(name, ours, unit, None, cpu, bar);
    }

    /// Reports a figure and that of the program it is compared with.
    pub(crate) fn tell_against(
        &mut self,
        name: &'static str,
        ours: f64,
        unit: &'static str,
        baseline: Option<f64>,
        cpu: CpuPerUser,
        bar: Option<Bar>,
    ) {
        let (bench, size) = (self.bench, self.size);
        self.report.add(Measure { bench, name, size, ours, unit, baseline, cpu, bar });
    }
}

/// The names, for the command line.
pub(crate) fn names() -> PossibleValuesParser {
    BENCHES.iter().map(|b| b.name).collect::<Vec<_>>().into()
}

/// The benches and what they measure, for `--help`.
pub(crate) fn help() -> String {
    let lines: Vec<_> = BENCHES.iter().map(|b| format!("  {:<10} {}", b.name, b.about)).collect();
    format!("Benches:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let names: std::collections::BTreeSet<_> = BENCHES.iter().map(|b| b.name).collect();
        assert_eq!(names.len(), BENCHES.len());
        assert!(BENCHES.iter().all(|b| b.users >= 10 && b.memory > 0));
    }
}
