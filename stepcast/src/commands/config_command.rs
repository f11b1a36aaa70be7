use std::path::Path;

use config::Config;

use crate::endings::Ending;

pub(super) fn check(file: Option<&Path>) -> anyhow::Result<Ending> {
    let config = super::load(file)?;
    for warning in &config.warnings {
        eprintln!("warning: {warning}");
    }
    let (channels, campaigns) = (config.channels.len(), config.campaigns.len());
    println!("the configuration is sound: {campaigns} campaign(s), {channels} channel(s)");
    Ok(Ending::Done)
}

pub(super) fn show(config: &Config) -> anyhow::Result<Ending> {
    config.show().for_each(|line| println!("{line}"));
    Ok(Ending::Done)
}
