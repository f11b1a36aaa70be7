//! Measures the program: `cargo run --release -p bench -- NAME [--json] [--size small|medium|large]`.
//!
//! A bench is a file that measures, and a line in [`registry`]. What it measured comes out in one format, see
//! [`measure`]. The run fails when a bar does not hold, or when what was measured did not do its work.

mod bar;
mod bare;
mod certificate;
mod claims;
mod daemon;
mod embedded;
mod enqueue;
mod feed;
mod figures;
mod growth;
mod hour;
mod ingest;
mod measure;
mod memory;
mod midnight;
mod night;
mod ops;
mod peers;
mod people;
mod process;
mod profile;
mod program;
mod receiver;
mod registry;
mod report;
mod roster;
mod schedule;
mod seals;
mod servers;
mod size;
mod store;
mod stores;
mod usage;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
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
    #[arg(value_parser = registry::names(), required_unless_present = "receive")]
    name: Option<String>,
    /// One JSON object a line and measure instead of a table.
    #[arg(long)]
    json: bool,
    /// medium is the size a bar speaks of, small a tenth of it, large ten times; large runs medium as well, to compare.
    #[arg(long, value_enum, default_value_t = Size::Medium)]
    size: Size,
    /// This stepcast instead of the one built from here.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Be the server that takes pushes: the benches start it so.
    #[arg(long, value_name = "FILE", hide = true, exclusive = true)]
    receive: Option<PathBuf>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.receive {
        Some(noted) => receive(noted),
        None => bench(&cli),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn receive(noted: &Path) -> anyhow::Result<bool> {
    runtime()?.block_on(receiver::serve(noted))?;
    Ok(true)
}

/// Runs the bench and tells whether every bar held.
fn bench(cli: &Cli) -> anyhow::Result<bool> {
    let name = cli.name.as_deref().unwrap_or_default();
    let Some(bench) = BENCHES.iter().find(|b| b.name == name) else { bail!("there is no bench {name}") };
    memory::check(bench, cli.size)?;
    let program = match &cli.program {
        Some(file) => file.canonicalize().with_context(|| file.display().to_string())?,
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

fn run(bench: &Bench, size: Size, program: &Path, report: &mut Report) -> anyhow::Result<()> {
    let mut run = Run { bench: bench.name, size, users: size.of(bench.users), program, report };
    runtime()?.block_on((bench.run)(&mut run))
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
