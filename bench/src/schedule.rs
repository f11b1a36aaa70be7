//! A scheduler in this process, whose clock is the bench's.

use std::{num::NonZeroU32, sync::Arc};

use anyhow::Context;
use directory::Directory;
use domain::{Campaign, ChannelName, NoSteps};
use job_queue::JobQueue;
use night_ledger::{NightLedger, Owner};
use plumbing::Span;
use scheduler::{Scheduler, Settings};

use crate::{hour::WINDOW, seals::SHARDS};

/// One for the campaign `nightly` on these channels, with settings as they are by default but for the shards.
pub(crate) fn scheduler(
    directory: Arc<dyn Directory>,
    queue: Arc<dyn JobQueue>,
    ledger: Arc<dyn NightLedger>,
    channels: &[&str],
) -> anyhow::Result<Scheduler> {
    let channels = channels.iter().map(|name| name.parse::<ChannelName>()).collect::<Result<_, _>>()?;
    let campaign = Campaign {
        name: "nightly".parse()?,
        line: "0 22 * * *".parse()?,
        window: WINDOW,
        channels,
        no_steps: NoSteps::Skip,
    };
    let settings = Settings {
        shards: NonZeroU32::new(SHARDS).context("no shards")?,
        prepare_ahead: Span::seconds(600),
        // ticks are as far apart as the bench's work is long
        lease: Span::seconds(60),
        publish_at_once: 2_000,
    };
    Ok(Scheduler::new(directory, queue, ledger, vec![campaign], settings, Owner(1)))
}
