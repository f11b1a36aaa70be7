//! The subcommands.

mod config_command;
mod dead;
mod import;
mod key;
mod night;
mod night_brake;
mod night_prove;
pub(crate) mod night_run;
mod replay;
mod run;
mod scheduler;
mod store;
mod token;
mod why;
mod zones;

use std::path::Path;

use config::Config;
use night_brake::Action;
pub(crate) use run::{Roles, Running, signal, start};

use crate::{
    cli::{Cli, Command, ConfigCommand, Import, Ingest, Night, Scheduler, Sender},
    demo,
    endings::Ending,
    say::say,
};

/// Runs the subcommand and answers how it ended.
pub(crate) async fn run(cli: Cli) -> anyhow::Result<Ending> {
    let file = cli.config.as_deref();
    match cli.command {
        Command::Demo(asked) => demo::run(asked).await,
        Command::Run(asked) => run::run(load(file)?, &asked, Roles::ALL).await,
        Command::Scheduler(Scheduler::Run(asked)) => run::run(load(file)?, &asked, Roles::SCHEDULER).await,
        Command::Scheduler(Scheduler::Once(asked)) => scheduler::once(load(file)?, asked).await,
        Command::Sender(Sender::Run(asked)) => run::run(load(file)?, &asked, Roles::SENDER).await,
        Command::Ingest(Ingest::Run(asked)) => run::run(load(file)?, &asked, Roles::INGEST).await,
        Command::Key(asked) => key::run(load(file)?, asked).await,
        Command::Token(asked) => token::run(&load(file)?, &asked),
        Command::Night(Night::Show(asked)) => night::show(load(file)?, asked).await,
        Command::Night(Night::Run(asked)) => night_run::run(load(file)?, asked).await,
        Command::Night(Night::Pause(asked)) => night_brake::run(load(file)?, asked, Action::Pause).await,
        Command::Night(Night::Resume(asked)) => night_brake::run(load(file)?, asked, Action::Resume).await,
        Command::Night(Night::Abort(asked)) => night_brake::run(load(file)?, asked, Action::Abort).await,
        Command::Night(Night::Prove(asked)) => night_prove::run(load(file)?, asked).await,
        Command::Why(asked) => why::why(load(file)?, asked).await,
        Command::Dead(asked) => dead::run(load(file)?, asked).await,
        Command::Store(asked) => store::run(load(file)?, asked).await,
        Command::Import(Import::Users(asked)) => import::users(load(file)?, asked).await,
        Command::Import(Import::Steps(asked)) => import::steps(load(file)?, asked).await,
        Command::Zones(asked) => zones::run(&load(file)?, asked),
        Command::Config(ConfigCommand::Check) => config_command::check(file),
        Command::Config(ConfigCommand::Show) => config_command::show(&load(file)?),
    }
}

fn load(file: Option<&Path>) -> anyhow::Result<Config> {
    Ok(Config::load(file, config::environment())?)
}

/// Prints a JSON value on one line.
pub(crate) fn print_json(value: &serde_json::Value) -> Ending {
    say!("{value}");
    Ending::Done
}
