mod sealing;

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use chrono::TimeDelta;
use directory::Directory;
use domain::{Campaign, CampaignName, Instant, Night, SealKey, Shard, ShardCount};
use job_queue::JobQueue;
use night_ledger::{ClosedOpen, NightLedger, Owner, Raised, StoreError};

use crate::{
    Metrics, Settings,
    agenda::{self, Entry},
    plan::Plan,
    shards::Shards,
};

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
    /// Seals that are not closed yet and belong to a shard of ours.
    plans: BTreeMap<SealKey, Plan>,
    /// Nights whose seals were read from the ledger, by the epoch they were read under.
    loaded: BTreeMap<(Night, Shard), u64>,
    /// Seals that are known to be written.
    sealed: HashSet<(Night, Instant, Shard)>,
    /// Entries of the agenda with nothing left to seal in the shards of ours.
    settled: HashSet<(Night, Instant)>,
    forgotten: Option<Instant>,
}

/// The agenda as it was made, and when; made again every half minute and whenever the clock went back.
struct Agenda {
    made: Instant,
    entries: Vec<(usize, Entry)>,
    first_seen: BTreeMap<CampaignName, Instant>,
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
    /// When there is something to do next, as far as is known.
    pub next: Option<Instant>,
}

/// An agenda older than this is made again.
const AGENDA_AGE: TimeDelta = TimeDelta::seconds(30);
/// How far the agenda looks beyond the time to prepare.
const AGENDA_AHEAD: TimeDelta = TimeDelta::hours(2);
/// How long after its deadline a seal with open users is left to the senders before it is closed.
const GRACE: TimeDelta = TimeDelta::minutes(2);

impl Scheduler {
    /// A scheduler over these stores. `owner` is drawn at random at each start of a process.
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
            forgotten: None,
        }
    }

    /// Its figures.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The latest deadline of the seals that are not closed yet.
    pub fn last_deadline(&self) -> Option<Instant> {
        self.plans.values().map(|p| p.deadline).max()
    }

    /// Does everything that is to be done at `now`: takes shards, seals ahead, publishes the slots that are due, closes
    /// what is past its deadline. After an error the next tick goes on where this one stopped.
    pub async fn tick(&mut self, now: Instant) -> Result<Ticked, StoreError> {
        let mut ticked = Ticked::default();
        if self.shards.due() {
            self.take_shards().await?;
        }
        self.make_agenda(now).await?;
        self.seal_ahead(now, &mut ticked).await?;
        self.publish(now, &mut ticked).await?;
        self.close(now, &mut ticked).await?;
        self.forget(now).await?;
        ticked.next = self.next(now);
        Ok(ticked)
    }

    /// Renews the leases on the shards of every N in force, and picks up what came with them.
    async fn take_shards(&mut self) -> Result<(), StoreError> {
        let mut counts = BTreeMap::new();
        let ours = |night: &Night| self.campaigns.iter().any(|c| c.name == night.campaign);
        for night in self.ledger.nights().await?.into_iter().filter(ours) {
            let n = self.ledger.shard_count(&night, self.settings.shards).await?;
            counts.insert(night, n);
        }
        let most = counts.values().copied().fold(self.settings.shards, ShardCount::max);
        self.shards.renew(&*self.ledger, most).await?;
        self.load(&counts).await
    }

    /// Reads the seals of nights and shards that came to us: raises the epoch first, then reads how far they are.
    async fn load(&mut self, counts: &BTreeMap<Night, ShardCount>) -> Result<(), StoreError> {
        self.plans.retain(|key, plan| self.shards.epoch(key.shard) == Some(plan.epoch));
        for (night, n) in counts {
            for shard in Shard::all(*n) {
                let Some(epoch) = self.shards.epoch(shard) else { continue };
                let place = (night.clone(), shard);
                if self.loaded.get(&place) == Some(&epoch) {
                    continue;
                }
                if let Raised::Outbid(held) = self.ledger.raise_epoch(night, shard, epoch).await? {
                    tracing::warn!(%night, %shard, epoch, held, "another scheduler owns the shard under a higher epoch");
                    continue;
                }
                for (key, progress) in self.ledger.seals(night, shard).await? {
                    self.sealed.insert((night.clone(), key.instant, shard));
                    if !progress.closed
                        && let Some(seal) = self.ledger.sealed(&key).await?
                    {
                        self.plans.insert(key.clone(), Plan::new(key, seal, epoch, progress.batches));
                    }
                }
                self.loaded.insert(place, epoch);
                self.settled.clear();
            }
        }
        Ok(())
    }

    async fn make_agenda(&mut self, now: Instant) -> Result<(), StoreError> {
        let fresh = |a: &Agenda| a.made <= now && now - a.made < AGENDA_AGE;
        if self.agenda.as_ref().is_some_and(fresh) {
            return Ok(());
        }
        let zones: Vec<_> = self.directory.zones().await?.into_iter().map(|(zone, _)| zone).collect();
        let ahead = TimeDelta::from_std(self.settings.prepare_ahead.0).unwrap_or_default() + AGENDA_AHEAD;
        let (mut entries, mut first_seen) = (Vec::new(), BTreeMap::new());
        for (index, campaign) in self.campaigns.iter().enumerate() {
            first_seen.insert(campaign.name.clone(), self.ledger.first_seen(&campaign.name, now).await?);
            let upcoming = agenda::agenda(campaign, &zones, agenda::earliest(now), now + ahead);
            entries.extend(upcoming.into_iter().map(|entry| (index, entry)));
        }
        self.agenda = Some(Agenda { made: now, entries, first_seen });
        Ok(())
    }

    async fn publish(&mut self, now: Instant, ticked: &mut Ticked) -> Result<(), StoreError> {
        let mut left = self.settings.publish_at_once;
        for plan in self.plans.values_mut() {
            // nothing goes out past the deadline: what is left is counted as missed
            if plan.deadline <= now {
                continue;
            }
            let late = plan.next_due().map(|at| now - at);
            let (batches, upto) = plan.due(now, left);
            if upto > plan.confirmed {
                self.queue.publish(&batches).await?;
                if let Raised::Outbid(held) = self.ledger.checkpoint(&plan.key, plan.epoch, upto).await? {
                    tracing::warn!(seal = %plan.key, epoch = plan.epoch, held, "the shard went to another scheduler");
                    continue;
                }
                plan.confirmed = upto;
                left = left.saturating_sub(batches.len());
                ticked.published += batches.len() as u64;
                self.metrics.published.inc_by(batches.len() as u64);
                self.metrics.slot_lag.set(late.map_or(0.0, |l| l.as_seconds_f64()));
            }
            ticked.publishing |= plan.key.instant <= now && plan.next_due().is_some();
        }
        Ok(())
    }

    async fn close(&mut self, now: Instant, ticked: &mut Ticked) -> Result<(), StoreError> {
        let over: Vec<_> = self.plans.values().filter(|p| p.deadline <= now).map(|p| p.key.clone()).collect();
        for key in over {
            let Some(plan) = self.plans.get(&key) else { continue };
            let progress = self.ledger.seals(&key.night, key.shard).await?;
            let open = progress.iter().find(|(k, _)| *k == key).map_or(0, |(_, p)| p.open);
            // batches in the queue are left to the senders, who expire what is too late by itself
            if open > 0 && plan.published_users() > 0 && now - plan.deadline < GRACE {
                continue;
            }
            let closed = self.ledger.close(&key, plan.published_users()).await?;
            if closed.never_worked > 0 {
                tracing::error!(seal = %key, users = closed.never_worked, "published and never worked before the deadline");
            }
            if closed.missed > 0 {
                tracing::error!(seal = %key, users = closed.missed, "not published before the deadline: missed");
            }
            self.metrics.missed.inc_by(closed.missed);
            self.metrics.never_worked.inc_by(closed.never_worked);
            ticked.closed.missed += closed.missed;
            ticked.closed.never_worked += closed.never_worked;
            ticked.closed.uncertain += closed.uncertain;
            self.plans.remove(&key);
        }
        Ok(())
    }

    /// Nights older than 14 days go, once an hour is enough.
    async fn forget(&mut self, now: Instant) -> Result<(), StoreError> {
        let due = self.forgotten.is_none_or(|at| now < at || now - at >= TimeDelta::hours(1));
        // two days more: the first day of the range is still some zone's
        let before = now - TimeDelta::days(agenda::DAYS_BACK + 2);
        if due && let Some(day) = domain::Day::of(before.date_naive()) {
            self.ledger.forget(day).await?;
            self.sealed.retain(|(night, ..)| night.day >= day);
            self.settled.retain(|(night, _)| night.day >= day);
            self.loaded.retain(|(night, _), _| night.day >= day);
            self.forgotten = Some(now);
        }
        Ok(())
    }

    fn next(&self, now: Instant) -> Option<Instant> {
        let slots = self.plans.values().filter_map(|p| {
            if p.deadline <= now { Some(p.deadline + GRACE) } else { p.next_due().or(Some(p.deadline)) }
        });
        let ahead = TimeDelta::from_std(self.settings.prepare_ahead.0).unwrap_or_default();
        let seals = self.agenda.iter().flat_map(|a| &a.entries).map(|(_, e)| e.instant - ahead);
        slots.chain(seals.filter(|at| *at > now)).min()
    }
}
