//! stepcast: every user's own number at 22:00, and a board on demand. One subcommand a daemon or operator command.

mod access;
mod cli;
mod commands;
mod demo;
mod endings;
mod freezes;
mod logs;
mod ops;
mod program;
mod prove;
mod say;
#[cfg(test)]
mod testing;
mod watch;

use std::{panic::AssertUnwindSafe, process::ExitCode};

use clap::Parser;
use futures_util::FutureExt;

use crate::endings::Ending;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    // caught ones become errors; the log has where they came from
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("stepcast: the runtime cannot be started: {error}");
            return Ending::Failed.into();
        }
    };
    let command = AssertUnwindSafe(commands::run(cli)).catch_unwind();
    let ended = runtime.block_on(command).unwrap_or_else(|panic| {
        let said = plumbing::text_of(panic.as_ref());
        Err(anyhow::anyhow!("an internal fault, or a damaged data file: {said}"))
    });
    let ending = ended.unwrap_or_else(|error| {
        if let Some(faults) = error.downcast_ref::<config::Faults>() {
            eprintln!("{faults}");
            return Ending::Config;
        }
        if error.is::<program::RefusedStores>() {
            eprintln!("stepcast: {error:#}");
            return Ending::Config;
        }
        eprintln!("stepcast: {error:#}");
        Ending::Failed
    });
    // what still runs in the background has been told to stop; it is not waited for
    runtime.shutdown_background();
    ending.into()
}
