use crate::measure::Measure;

/// Gathers measures and prints them: each at once as a line of JSON, or all at the end as a table.
pub(crate) struct Report {
    json: bool,
    measures: Vec<Measure>,
}

impl Report {
    /// An empty one.
    pub(crate) fn new(json: bool) -> Self {
        Self { json, measures: Vec::new() }
    }

    /// Adds a measure.
    pub(crate) fn add(&mut self, measure: Measure) {
        if self.json {
            println!("{}", measure.json());
        }
        self.measures.push(measure);
    }

    /// What was added so far.
    pub(crate) fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// Ends it; whether every bar held.
    pub(crate) fn end(self) -> bool {
        if !self.json {
            print!("{}", table(&self.measures));
        }
        self.measures.iter().all(Measure::holds)
    }
}

const HEAD: [&str; 9] =
    ["bench", "measure", "size", "ours", "unit", "baseline", "ratio", "bar", "cpu us/user"];

fn table(measures: &[Measure]) -> String {
    let rows = std::iter::once(HEAD.map(str::to_owned)).chain(measures.iter().map(row)).collect::<Vec<_>>();
    let mut widths = [0; HEAD.len()];
    for row in &rows {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = cell.len().max(*width));
    }
    let mut text = String::new();
    for row in rows {
        for (index, (cell, width)) in row.iter().zip(widths).enumerate() {
            let right = [3, 5, 6].contains(&index);
            text += &if right { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

fn row(measure: &Measure) -> [String; HEAD.len()] {
    let or_dash = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), short);
    let bar = match measure.bar {
        None => "-".to_owned(),
        Some(bar) => format!("{bar} {}", if measure.holds() { "holds" } else { "DOES NOT HOLD" }),
    };
    let cpu: Vec<_> = measure.cpu.iter().map(|(process, us)| format!("{process} {}", short(*us))).collect();
    [
        measure.bench.to_owned(),
        measure.name.to_owned(),
        measure.size.name().to_owned(),
        short(measure.ours),
        measure.unit.to_owned(),
        or_dash(measure.baseline),
        or_dash(measure.ratio()),
        bar,
        if cpu.is_empty() { "-".to_owned() } else { cpu.join(", ") },
    ]
}

/// About four digits.
fn short(number: f64) -> String {
    let decimals = match number.abs() {
        n if n < 10.0 => 3,
        n if n < 100.0 => 2,
        n if n < 1_000.0 => 1,
        _ => 0,
    };
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bar::Bar, measure::CpuPerUser, size::Size};

    fn measure(ours: f64, bar: Option<Bar>) -> Measure {
        Measure {
            bench: "embedded",
            name: "night",
            size: Size::Small,
            ours,
            unit: "s",
            baseline: None,
            cpu: CpuPerUser::from([("stepcast", 41.0)]),
            bar,
        }
    }

    #[test]
    fn the_table_lines_up_and_names_what_failed() {
        let text = table(&[measure(12.0, Some(Bar::AtMost(1.9))), measure(123_456.7, None)]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0].find("unit"), lines[1].find(" s ").map(|at| at + 1));
        assert!(lines[1].contains("12.00") && lines[1].contains("<= 1.9 DOES NOT HOLD"), "{text}");
        assert!(lines[2].contains("123457") && lines[2].ends_with("stepcast 41.00"), "{text}");
    }

    #[test]
    fn one_bar_that_does_not_hold_fails_the_whole() {
        let mut report = Report::new(true);
        report.add(measure(1.0, Some(Bar::AtMost(1.9))));
        report.add(measure(2.0, Some(Bar::AtMost(1.9))));
        report.add(measure(2.0, None));
        assert_eq!(report.measures().len(), 3);
        assert!(!report.end());
    }
}
