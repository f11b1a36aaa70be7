use std::path::Path;

use config::Config;

use crate::{endings::Ending, say::say};

pub(super) fn check(file: Option<&Path>) -> anyhow::Result<Ending> {
    let config = super::load(file)?;
    for warning in &config.warnings {
        eprintln!("warning: {warning}");
    }
    let (channels, campaigns) = (config.channels.len(), config.campaigns.len());
    say!("the configuration is sound: {campaigns} campaign(s), {channels} channel(s)");
    Ok(Ending::Done)
}

pub(super) fn show(config: &Config) -> anyhow::Result<Ending> {
    config.show().for_each(|line| say!("{line}"));
    Ok(Ending::Done)
}
