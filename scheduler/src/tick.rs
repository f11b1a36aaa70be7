mod closing;
mod following;
mod forgetting;
mod owning;
mod publishing;
mod readying;
mod sealing;
mod turn;
mod upcoming;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Instant as RealInstant,
};

use chrono::TimeDelta;
use directory::{Column, Directory};
use domain::{Campaign, CampaignName, Instant, Night, SealKey, Shard};
use job_queue::JobQueue;
use night_ledger::{ClosedOpen, NightLedger, Owner, StoreError};

use self::{
    closing::GRACE, forgetting::Forgetting, owning::Outbid, readying::Readying, turn::Turn, upcoming::Agenda,
};
use crate::{Metrics, Settings, held_back::HeldBack, plan::Plan, shards::Shards};

/// Puts the night's work into the queue. It calls nobody and waits for nobody but the stores and the queue's confirm.
pub struct Scheduler {
    directory: Arc<dyn Directory>,
    queue: Arc<dyn JobQueue>,
    ledger: Arc<dyn NightLedger>,
    campaigns: Vec<Campaign>,
    settings: Settings,
    metrics: Metrics,
    shards: Shards,
    /// Who is there. Away while it is being refreshed or read.
    column: Column,
    /// When it was last refreshed.
    followed: Option<RealInstant>,
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
    /// Places of ours that were found under a higher epoch.
    outbid: Outbid,
    forgetting: Forgetting,
    readying: Readying,
    /// Whether it is one run: what is old is forgotten at its end.
    ends_by_itself: bool,
    /// Pages of the directory that could not be read, as of the last refresh.
    unreadable: usize,
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
            column: Column::default(),
            followed: None,
            agenda: None,
            plans: BTreeMap::new(),
            loaded: BTreeMap::new(),
            sealed: HashSet::new(),
            settled: HashSet::new(),
            held_back: HashMap::new(),
            outbid: Outbid::default(),
            forgetting: Forgetting::of(owner),
            readying: Readying::new(),
            ends_by_itself: false,
            unreadable: 0,
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
    /// slots that are due, and only then seals what was missed and closes what is past its deadline. The queue is made ready
    /// for what fires soon, and what is old is forgotten, beside the ticks. All of it is tried, whatever fails; the first
    /// error is answered, and the next tick goes on where this one stopped.
    pub async fn tick(&mut self, now: Instant) -> Result<Ticked, StoreError> {
        let mut turn = Turn::new(now);
        if self.shards.due() {
            let end = self.take_shards(&mut turn).await;
            turn.note(end);
        }
        let end = self.follow(&mut turn).await;
        turn.note(end);
        let end = self.make_agenda(now).await;
        turn.note(end);
        let end = self.seal_ahead(&mut turn).await;
        turn.note(end);
        let end = self.publish(now, &mut turn).await;
        turn.note(end);
        let end = self.seal_past(&mut turn).await;
        turn.note(end);
        let end = self.close(&mut turn).await;
        turn.note(end);
        self.make_ready(now);
        turn.note(self.look_at_outbid());
        turn.note(self.forget(now));
        Metrics::count(&self.metrics.held, self.shards.epochs().len());
        Metrics::count(&self.metrics.members, self.shards.members());
        let mut ticked = turn.end()?;
        self.metrics.ticked();
        ticked.next = if ticked.behind { Some(now) } else { self.next(now) };
        Ok(ticked)
    }

    /// Gives all shards up and takes leave of the other schedulers, so that they take over at once.
    pub async fn leave(&mut self) -> Result<(), StoreError> {
        self.plans.clear();
        self.loaded.clear();
        self.shards.leave(&*self.ledger).await
    }

    /// Seals nothing ahead of its hour, and forgets nothing by itself.
    pub(crate) fn only_what_fired(&mut self) {
        self.ends_by_itself = true;
        self.settings.prepare_ahead = plumbing::Span::seconds(0);
    }

    /// Whether it holds every shard that is its own, after running for so long: with others about, one of them may have died
    /// a moment ago and still be taken for alive.
    pub(crate) fn has_its_own(&self, ran: std::time::Duration) -> bool {
        self.shards.whole() && (self.shards.members() == 1 || ran >= self.settings.lease.0 * 2)
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
