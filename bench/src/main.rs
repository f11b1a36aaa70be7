//! Measures the program: `cargo run --release -p bench -- NAME [--json] [--size small|medium|large]`.
//!
//! A bench is a file that measures, and a line in [`registry`]. What it measured comes out in one format, see
//! [`measure`]. The run fails when a bar does not hold, or when what was measured did not do its work.

mod bar;
mod embedded;
mod growth;
mod measure;
mod memory;
mod ops;
mod people;
mod process;
mod profile;
mod program;
mod registry;
mod report;
mod size;

use std::{path::PathBuf, process::ExitCode};

use anyhow::bail;
use clap::Parser;

use crate::{
    growth::growth,
    registry::{BENCHES, Bench, Run},
    report::Report,
    size::Size,
};

/// Measures the program against its bars.
#[derive(Debug, Parser)]
#[command(after_help = registry::help())]
struct Cli {
    /// Which bench.
    #[arg(value_parser = registry::names())]
    name: String,
    /// One JSON object a line and measure instead of a table.
    #[arg(long)]
    json: bool,
    /// medium is the size a bar speaks of, small a tenth of it, large ten times; large runs medium as well, to compare.
    #[arg(long, value_enum, default_value_t = Size::Medium)]
    size: Size,
    /// This stepcast instead of the one built from here.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

fn main() -> ExitCode {
    match bench(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the bench and tells whether every bar held.
fn bench(cli: &Cli) -> anyhow::Result<bool> {
    let Some(bench) = BENCHES.iter().find(|b| b.name == cli.name) else {
        bail!("there is no bench {}", cli.name)
    };
    memory::check(bench, cli.size)?;
    let program = match &cli.program {
        Some(file) => file.clone(),
        None => program::build()?,
    };
    let mut report = Report::new(cli.json);
    if cli.size == Size::Large {
        run(bench, Size::Medium, &program, &mut report)?;
    }
    run(bench, cli.size, &program, &mut report)?;
    for measure in growth(report.measures()) {
        report.add(measure);
    }
    Ok(report.end())
}

fn run(bench: &Bench, size: Size, program: &std::path::Path, report: &mut Report) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut run = Run { bench: bench.name, size, users: size.of(bench.users), program, report };
    runtime.block_on((bench.run)(&mut run))
}
