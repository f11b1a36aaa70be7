mod closing;
mod owning;
mod publishing;
mod sealing;
mod upcoming;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Instant as RealInstant,
};

use chrono::TimeDelta;
use directory::Directory;
use domain::{Campaign, CampaignName, Instant, Night, SealKey, Shard};
use job_queue::JobQueue;
use night_ledger::{ClosedOpen, NightLedger, Owner, StoreError};

use self::{closing::GRACE, sealing::HeldBack, upcoming::Agenda};
use crate::{Metrics, Settings, first_error::FirstError, plan::Plan, shards::Shards};

/// Puts the night's work into the queue. It calls nobody and waits for nobody but the stores and the queue's confirm.
pub struct Scheduler {
    directory: Arc<dyn Directory>,
    queue: Arc<dyn JobQueue>,
    ledger: Arc<dyn NightLedger>,
    campaigns: Vec<Campaign>,
    settings: Settings,
    metrics: Metrics,
    shards: Shards,
    agenda: Option<Agenda>,
    /// Seals that are not closed yet and belong to a shard of ours, of whatever campaign.
    plans: BTreeMap<SealKey, Plan>,
    /// Nights whose seals were read from the ledger, by the epoch they were read under.
    loaded: BTreeMap<(Night, Shard), u64>,
    /// Places with nothing left to seal: the seal is written, or its zones are in other seals.
    sealed: HashSet<(Night, Instant, Shard)>,
    /// Entries of the agenda with nothing left to seal in the shards of ours.
    settled: HashSet<(Night, Instant)>,
    /// Entries whose seals failed.
    held_back: HashMap<(Night, Instant), HeldBack>,
    forgotten: Option<Instant>,
}

/// What a tick did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticked {
    /// Users sealed.
    pub sealed: u64,
    /// Batches published and confirmed.
    pub published: u64,
    /// What was closed.
    pub closed: ClosedOpen,
    /// Whether some seal that has fired is not wholly published yet and can still be.
    pub publishing: bool,
    /// Whether nights past their deadline are left to be sealed and counted as missed.
    pub behind: bool,
    /// When there is something to do next, as far as is known.
    pub next: Option<Instant>,
}

impl Scheduler {
    /// A scheduler over these stores. `owner` is drawn at random at each start of a process. Seals of other campaigns than
    /// these are closed after their deadline and never published.
    pub fn new(
        directory: Arc<dyn Directory>,
        queue: Arc<dyn JobQueue>,
        ledger: Arc<dyn NightLedger>,
        campaigns: Vec<Campaign>,
        settings: Settings,
        owner: Owner,
    ) -> Self {
        let shards = Shards::new(owner, settings.lease.0);
        let metrics = Metrics::default();
        metrics.shards.set(settings.shards.get().into());
        metrics.ticked();
        Self {
            directory,
            queue,
            ledger,
            campaigns,
            settings,
            metrics,
            shards,
            agenda: None,
            plans: BTreeMap::new(),
            loaded: BTreeMap::new(),
            sealed: HashSet::new(),
            settled: HashSet::new(),
            held_back: HashMap::new(),
            forgotten: None,
        }
    }

    /// Its figures.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The latest deadline of the seals of its campaigns that are not closed yet.
    pub fn last_deadline(&self) -> Option<Instant> {
        self.plans.values().filter(|p| p.ours).map(|p| p.deadline).max()
    }

    /// Does everything that is to be done at `now`: takes shards, seals what is ahead or inside its deadline, publishes the
    /// slots that are due, and only then seals what was missed, closes what is past its deadline and forgets what is old.
    /// All of it is tried, whatever fails; the first error is answered, and the next tick goes on where this one stopped.
    pub async fn tick(&mut self, now: Instant) -> Result<Ticked, StoreError> {
        let began = RealInstant::now();
        let (mut ticked, mut first) = (Ticked::default(), FirstError::default());
        if self.shards.due() {
            first.note(self.take_shards().await);
        }
        first.note(self.make_agenda(now).await);
        first.note(self.seal_ahead(now, &mut ticked).await);
        first.note(self.publish(now, began, &mut ticked).await);
        first.note(self.seal_past(now, began, &mut ticked).await);
        first.note(self.close(now, &mut ticked).await);
        first.note(self.forget(now).await);
        first.end()?;
        self.metrics.ticked();
        ticked.next = if ticked.behind { Some(now) } else { self.next(now) };
        Ok(ticked)
    }

    fn has(&self, campaign: &CampaignName) -> bool {
        self.campaigns.iter().any(|c| c.name == *campaign)
    }

    fn prepare_ahead(&self) -> TimeDelta {
        TimeDelta::from_std(self.settings.prepare_ahead.0).unwrap_or_default()
    }

    fn next(&self, now: Instant) -> Option<Instant> {
        let slots = self.plans.values().filter_map(|p| {
            if p.deadline <= now {
                return Some(p.deadline + GRACE);
            }
            p.next_due().filter(|_| p.ours).or(Some(p.deadline))
        });
        let ahead = self.prepare_ahead();
        let seals = self.agenda.iter().flat_map(|a| &a.entries).map(|(_, e)| e.instant - ahead);
        slots.chain(seals.filter(|at| *at > now)).min()
    }
}

/// Logical time as it is now, in a tick that began at `began` and was told `now`.
fn by_now(now: Instant, began: RealInstant) -> Instant {
    let elapsed = TimeDelta::from_std(began.elapsed()).unwrap_or_default();
    now.checked_add_signed(elapsed).unwrap_or(now)
}
