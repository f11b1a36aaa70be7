//! Whole numbers made into figures for people to read.
#![allow(clippy::cast_precision_loss, reason = "nobody reads sixteen digits")]

/// So many in so many seconds.
pub(crate) fn rate(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds
}

/// So many for each of those.
pub(crate) fn per(count: u64, each: u64) -> f64 {
    count as f64 / each as f64
}

/// The one of several runs whose figure is in the middle; tells all the figures on the standard error.
///
/// # Errors
/// No run at all.
pub(crate) fn middle<T>(what: &str, mut runs: Vec<T>, figure: impl Fn(&T) -> f64) -> anyhow::Result<T> {
    runs.sort_by(|a, b| figure(a).total_cmp(&figure(b)));
    let figures: Vec<_> = runs.iter().map(|run| format!("{:.2}", figure(run))).collect();
    eprintln!("{what}: {}", figures.join(" "));
    let middle = runs.len() / 2;
    anyhow::ensure!(middle < runs.len(), "{what}: nothing was run");
    Ok(runs.swap_remove(middle))
}
