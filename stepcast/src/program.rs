use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context;
use config::Config;
use directory::{Directory, EmbeddedDirectory};
use job_queue::{EmbeddedQueue, JobQueue, Ladder, Limits as QueueLimits};
use night_ledger::{EmbeddedLedger, NightLedger, Owner};
use plumbing::{Clock, File, FileError};
use scheduler::Scheduler;
use sender::{Limits, Line, Parts, Texts, channel};
use step_store::{EmbeddedSteps, StepStore};

/// All parts over one embedded file, built and not yet running.
pub(crate) struct Program {
    /// The settings.
    pub(crate) config: Config,
    /// Where "now" comes from.
    pub(crate) clock: Arc<Clock>,
    /// What the sender works with; the stores are in it.
    pub(crate) parts: Arc<Parts>,
    /// What all stores lie in: where it ends, the process has to.
    pub(crate) file: Arc<File>,
    /// Drawn at this start.
    owner: Owner,
}

impl Program {
    /// Opens the data file and builds everything that can fail. Fails with `plumbing::FileError::Locked` in the chain
    /// where another process has the file open.
    pub(crate) async fn open(config: Config, clock: Clock) -> anyhow::Result<Self> {
        let file = File::open(&data_file(&config))?;
        Self::over(file, config, clock).await
    }

    /// Builds everything over a data file that is open.
    pub(crate) async fn over(file: File, config: Config, clock: Clock) -> anyhow::Result<Self> {
        let file = Arc::new(file);
        let ladder =
            Ladder::new(config.sender.ladder.iter().map(|s| s.0).collect()).context("sender.ladder")?;
        let directory: Arc<dyn Directory> = Arc::new(EmbeddedDirectory::open(Arc::clone(&file))?);
        let steps: Arc<dyn StepStore> = Arc::new(EmbeddedSteps::open(Arc::clone(&file))?);
        let queue: Arc<dyn JobQueue> =
            EmbeddedQueue::open(Arc::clone(&file), ladder.clone(), QueueLimits::default())?;
        let ledger: Arc<dyn NightLedger> = Arc::new(EmbeddedLedger::open(Arc::clone(&file)).await?);
        let clock = Arc::new(clock);
        let parts = Arc::new(Parts {
            directory,
            steps,
            queue,
            ledger,
            campaigns: campaigns(&config)?,
            lines: lines(&config)?,
            ladder,
            settings: config.sender.clone(),
            clock: Arc::clone(&clock),
            metrics: sender::Metrics::default(),
        });
        let mut random = [0; 8];
        aws_lc_rs::rand::fill(&mut random).context("the system gives no random bytes")?;
        Ok(Self { config, clock, parts, file, owner: Owner(u64::from_le_bytes(random)) })
    }

    /// Warns where there is nobody to push to: another data folder may be meant.
    pub(crate) async fn warn_if_empty(&self) -> anyhow::Result<()> {
        if self.parts.directory.zones().await?.is_empty() {
            let data = self.config.data.display();
            tracing::warn!(%data, "the directory has no users, so nobody is due: import some, or set `data`");
        }
        Ok(())
    }

    /// A scheduler over the stores, for `campaigns`.
    pub(crate) fn scheduler(
        &self,
        campaigns: Vec<domain::Campaign>,
        settings: scheduler::Settings,
    ) -> Scheduler {
        let parts = &self.parts;
        Scheduler::new(
            Arc::clone(&parts.directory),
            Arc::clone(&parts.queue),
            Arc::clone(&parts.ledger),
            campaigns,
            settings,
            self.owner,
        )
    }

    /// A scheduler for all campaigns, as configured.
    pub(crate) fn whole_scheduler(&self) -> Scheduler {
        let campaigns = self.config.campaigns.iter().map(|c| c.campaign.clone()).collect();
        self.scheduler(campaigns, self.config.scheduler.clone())
    }
}

/// Opens the data file, and waits up to `patience` for whoever has it: the commands that use it are short.
pub(crate) async fn open_file(path: &Path, patience: Duration) -> Result<File, FileError> {
    let began = Instant::now();
    let mut told = false;
    loop {
        match File::open(path) {
            Err(FileError::Locked(_)) if began.elapsed() < patience => {
                if !told {
                    tracing::info!(file = %path.display(), ?patience, "another stepcast has the data file: waiting for it");
                    told = true;
                }
                tokio::time::sleep(RETRY).await;
            }
            end => return end,
        }
    }
}

/// How long a start waits for a short command that has the file.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two tries to open a locked file.
pub(crate) const RETRY: Duration = Duration::from_millis(50);

/// Where the data lies.
pub(crate) fn data_file(config: &Config) -> PathBuf {
    config.data.join("stepcast.redb")
}

fn campaigns(config: &Config) -> anyhow::Result<HashMap<domain::CampaignName, (domain::Campaign, Texts)>> {
    let all = config.campaigns.iter().map(|c| {
        let texts = c.texts.iter().map(|(l, t)| (l.clone(), (t.title.clone(), t.body.clone()))).collect();
        let texts =
            Texts::new(&texts, &c.fallback).with_context(|| format!("campaigns.{}.text", c.campaign.name))?;
        Ok((c.campaign.name.clone(), (c.campaign.clone(), texts)))
    });
    all.collect()
}

fn lines(config: &Config) -> anyhow::Result<std::collections::BTreeMap<domain::ChannelName, Line>> {
    let all = config.channels.iter().map(|(name, settings)| {
        let channel = channel::build(settings).with_context(|| format!("channels.{name}"))?;
        let limits = Limits::new(&settings.quota, config.sender.chunk);
        Ok((name.clone(), Line::new(name.clone(), channel, limits)))
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_locked_file_is_waited_for_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let held = File::open(&path).unwrap();
        for patience in [Duration::ZERO, RETRY * 2] {
            let end = open_file(&path, patience).await;
            assert!(matches!(end, Err(FileError::Locked(_))));
        }
        let mut waiting = Box::pin(open_file(&path, Duration::from_secs(60)));
        assert!(futures_util::poll!(waiting.as_mut()).is_pending());
        drop(held);
        assert!(waiting.await.is_ok());
    }
}
