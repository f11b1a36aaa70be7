//! Builds all parts over the stores that the configuration names: the one place that knows which engines there are.

mod lookout;
mod opening;
mod stores;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use anyhow::Context;
use config::Config;
use directory::{ApiKeys, KeyRing};
use ingest::{Edge, Freezer, Publisher};
use job_queue::{Feed, Ladder};
pub(crate) use lookout::{Check, Found, Lookout, RefusedStores};
use night_ledger::Owner;
use opening::{PATIENCE, open_file};
pub(crate) use opening::{RETRY, data_file};
use plumbing::{Clock, File, FileError};
use scheduler::Scheduler;
use sender::{Limits, Line, Parts, Texts, channel};
use stores::Opened;

/// All parts over one embedded file or over shared stores, built and not yet running.
pub(crate) struct Program {
    /// The settings.
    pub(crate) config: Config,
    /// Where "now" comes from.
    pub(crate) clock: Arc<Clock>,
    /// What the sender works with; the stores are in it.
    pub(crate) parts: Arc<Parts>,
    /// Who may call the HTTP interfaces.
    pub(crate) keys: Arc<dyn ApiKeys>,
    /// What carries changes of totals to those that keep a copy.
    feed: Arc<dyn Feed>,
    /// What looks after shared stores.
    pub(crate) lookout: Option<Arc<Lookout>>,
    /// What embedded stores lie in.
    file: Option<Arc<File>>,
    /// Drawn at this start.
    owner: Owner,
}

impl Program {
    /// Opens the stores that the configuration names: the data file, for which a start waits a while, or shared ones.
    ///
    /// # Errors
    /// Among others [`RefusedStores`], where shared ones are set up so that nothing may be pushed. That they are away is
    /// none.
    pub(crate) async fn begin(config: Config, clock: Clock) -> anyhow::Result<Self> {
        if !config.shares_stores() {
            let file = open_file(&data_file(&config), PATIENCE).await?;
            return Self::over(file, config, clock).await;
        }
        let program = Self::shared(config, clock)?;
        if let Some(lookout) = &program.lookout
            && let Found::Refused(fault) = lookout.look().await
        {
            return Err(RefusedStores(fault).into());
        }
        Ok(program)
    }

    /// Opens the data file and builds everything that can fail. Fails with `plumbing::FileError::Locked` in the chain
    /// where another process has the file open.
    pub(crate) async fn open(config: Config, clock: Clock) -> anyhow::Result<Self> {
        let file = File::open(&data_file(&config))?;
        Self::over(file, config, clock).await
    }

    /// Builds everything over a data file that is open.
    pub(crate) async fn over(file: File, config: Config, clock: Clock) -> anyhow::Result<Self> {
        let (file, ladder) = (Arc::new(file), ladder(&config)?);
        let stores = stores::embedded(&file, ladder.clone()).await?;
        Self::build(stores, Some(file), ladder, config, clock)
    }

    /// Builds everything over shared stores. Asks them nothing yet: they may be away.
    pub(crate) fn shared(config: Config, clock: Clock) -> anyhow::Result<Self> {
        let ladder = ladder(&config)?;
        let stores = stores::shared(&config, ladder.clone())?;
        Self::build(stores, None, ladder, config, clock)
    }

    fn build(
        stores: Opened,
        file: Option<Arc<File>>,
        ladder: Ladder,
        config: Config,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let mut random = [0; 8];
        aws_lc_rs::rand::fill(&mut random).context("the system gives no random bytes")?;
        let owner = Owner(u64::from_le_bytes(random));
        let (clock, guard) = (Arc::new(clock), sender::Guard::default());
        let parts = Arc::new(Parts {
            directory: stores.directory,
            steps: stores.steps,
            queue: stores.queue,
            ledger: stores.ledger,
            campaigns: campaigns(&config)?,
            lines: lines(&config)?,
            ladder,
            settings: config.sender.clone(),
            clock: Arc::clone(&clock),
            metrics: sender::Metrics::default(),
            owner,
            guard: guard.clone(),
        });
        let (keys, feed) = (stores.keys, stores.feed);
        let lookout = stores.check.map(|check| Arc::new(Lookout::new(check, guard)));
        Ok(Self { config, clock, parts, keys, feed, lookout, file, owner })
    }

    /// Waits until the data file can no longer be written: the process has to end then. Shared stores have no such end.
    pub(crate) async fn ended(&self) -> FileError {
        match &self.file {
            Some(file) => file.ended().await,
            None => std::future::pending().await,
        }
    }

    /// Warns where there is nobody to push to: another data folder may be meant.
    pub(crate) async fn warn_if_empty(&self) -> anyhow::Result<()> {
        let zones = match self.parts.directory.zones().await {
            // it goes on trying, and says so at other places
            Err(_) if self.file.is_none() => return Ok(()),
            zones => zones?,
        };
        if zones.is_empty() {
            let data = self.config.data.display();
            tracing::warn!(%data, "the directory has no users, so nobody is due: import some, or set `data` or `stores`");
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

    /// The HTTP edge over the stores.
    pub(crate) fn edge(&self) -> Arc<Edge> {
        Edge::new(ingest::Parts {
            directory: Arc::clone(&self.parts.directory),
            steps: Arc::clone(&self.parts.steps),
            keys: KeyRing::new(Arc::clone(&self.keys)),
            tokens: Arc::new(self.config.access.token_keys()),
            clock: Arc::clone(&self.clock),
            settings: self.config.ingest.clone(),
            metrics: ingest::Metrics::default(),
        })
    }

    /// What publishes changes of totals.
    pub(crate) fn publisher(&self) -> Publisher {
        Publisher::new(Arc::clone(&self.parts.steps), Arc::clone(&self.feed), self.owner.0)
    }

    /// What freezes days.
    pub(crate) fn freezer(&self) -> Arc<Freezer> {
        Arc::new(Freezer::new(Arc::clone(&self.parts.directory), Arc::clone(&self.parts.steps)))
    }

    /// A scheduler for all campaigns, as configured.
    pub(crate) fn whole_scheduler(&self) -> Scheduler {
        let campaigns = self.config.campaigns.iter().map(|c| c.campaign.clone()).collect();
        self.scheduler(campaigns, self.config.scheduler.clone())
    }
}

fn ladder(config: &Config) -> anyhow::Result<Ladder> {
    Ladder::new(config.sender.ladder.iter().map(|s| s.0).collect()).context("sender.ladder")
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

fn lines(config: &Config) -> anyhow::Result<BTreeMap<domain::ChannelName, Line>> {
    let all = config.channels.iter().map(|(name, settings)| {
        let channel = channel::build(settings).with_context(|| format!("channels.{name}"))?;
        let limits = Limits::new(&settings.quota, config.sender.chunk);
        Ok((name.clone(), Line::new(name.clone(), channel, limits)))
    });
    all.collect()
}
