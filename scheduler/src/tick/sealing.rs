//! The seal: who is due, fixed before the hour.

mod building;
mod writing;

use std::{collections::BTreeMap, sync::Arc, time::Instant as RealInstant};

use domain::{Campaign, Instant, Shard, ShardCount, Zone};
use futures_util::{StreamExt, stream};
use night_ledger::{Seal, StoreError};

use self::writing::{Standing, write};
use super::{Scheduler, Turn};
use crate::{agenda::Entry, first_error::FirstError, held_back::HeldBack, plan::Plan};

/// Entries past their deadline that are sealed in one tick: each goes through the whole column.
const MOST_PAST: usize = 16;
/// Seals written at once.
const AT_ONCE: usize = 8;

impl Scheduler {
    /// Seals what fires within the time to prepare, and what was found unsealed and is inside its deadline. It does not
    /// matter when the campaign was first seen.
    pub(super) async fn seal_ahead(&mut self, turn: &mut Turn) -> Result<(), StoreError> {
        let (now, ahead) = (turn.now, self.prepare_ahead());
        let mut first = FirstError::default();
        for (index, entry) in self.unsettled(|e, _| e.instant - ahead <= now && e.deadline() > now) {
            if self.waits(&entry, &mut first) {
                continue;
            }
            first.note(self.seal_entry(index, &entry, turn).await);
        }
        first.end()
    }

    /// Seals what was found unsealed past its deadline, so that it can be counted as missed: some entries a tick, and no
    /// more than one while something waits to be published. A night that was over before its campaign was first seen with
    /// this line is nobody's.
    pub(super) async fn seal_past(&mut self, turn: &mut Turn) -> Result<(), StoreError> {
        let now = turn.now;
        let mut first = FirstError::default();
        let mut done = 0;
        for (index, entry) in self.unsettled(|e, seen| e.deadline() <= now && e.deadline() > seen) {
            if self.waits(&entry, &mut first) {
                continue;
            }
            if done >= MOST_PAST || done > 0 && self.slot_due(turn.by_now()) {
                turn.ticked.behind = true;
                break;
            }
            let read = first.note(self.seal_entry(index, &entry, turn).await);
            done += usize::from(read != Some(false));
        }
        first.end()
    }

    /// Whether an entry that failed is not to be tried again yet; its error is noted again.
    fn waits(&self, entry: &Entry, first: &mut FirstError) -> bool {
        let held = self.held_back.get(&(entry.night.clone(), entry.instant));
        let error = held.and_then(|held| held.waits(RealInstant::now()));
        error.is_some_and(|error| first.note::<()>(Err(error.clone())).is_none())
    }

    /// Seals an entry; answers whether the column had to be gone through for it.
    async fn seal_entry(&mut self, index: usize, entry: &Entry, turn: &mut Turn) -> Result<bool, StoreError> {
        let end = self.seal_shards(index, entry, turn).await;
        let name = (entry.night.clone(), entry.instant);
        let before = self.held_back.remove(&name);
        if let Err(error) = &end {
            let held = HeldBack::new(error.clone(), before.as_ref(), RealInstant::now());
            self.held_back.insert(name, held);
        }
        end
    }

    /// Seals an entry in every shard of ours that is not sealed yet. One that fails holds up no other.
    async fn seal_shards(
        &mut self,
        index: usize,
        entry: &Entry,
        turn: &mut Turn,
    ) -> Result<bool, StoreError> {
        let Some(campaign) = self.campaigns.get(index).cloned() else { return Ok(false) };
        let n = self.ledger.shard_count(&entry.night, self.settings.shards).await?;
        let mut first = FirstError::default();
        let (wanted, lost) = self.wanted(entry, n, &mut first, turn).await;
        if wanted.is_empty() {
            // one that was lost may come back at the next tick
            if first.none() && !lost {
                self.settled.insert((entry.night.clone(), entry.instant));
            }
            return first.end().map(|()| false);
        }
        self.refresh(turn).await?;
        let brakes = self.ledger.brakes(&entry.night).await?;
        let shards = wanted.keys().copied().collect();
        let seals = self.build(&campaign, entry, n, shards, brakes, turn).await?;
        self.write_seals(&campaign, entry, &wanted, seals, &mut first, turn).await;
        first.end().map(|()| true)
    }

    /// The shards of ours in which the entry is not sealed, with their epochs, and whether one was found to be another's.
    async fn wanted(
        &mut self,
        entry: &Entry,
        n: ShardCount,
        first: &mut FirstError,
        turn: &mut Turn,
    ) -> (BTreeMap<Shard, u64>, bool) {
        let place = |shard| (entry.night.clone(), entry.instant, shard);
        let unsealed = Shard::all(n).filter(|&shard| !self.sealed.contains(&place(shard)));
        // whatever is there already came with the shard
        let places = unsealed.map(|shard| (entry.night.clone(), shard)).collect();
        let lost = self.load_places(places, first, turn).await;
        let wanted = Shard::all(n).filter_map(|shard| {
            let epoch = self.shards.epoch(shard)?;
            let loaded = self.loaded.get(&(entry.night.clone(), shard)) == Some(&epoch);
            (loaded && !self.sealed.contains(&place(shard))).then_some((shard, epoch))
        });
        (wanted.collect(), lost)
    }

    /// Writes seals, some at once. Whatever then stands in a place, there is nothing left to seal in it.
    async fn write_seals(
        &mut self,
        campaign: &Campaign,
        entry: &Entry,
        wanted: &BTreeMap<Shard, u64>,
        seals: Vec<(Shard, Seal)>,
        first: &mut FirstError,
        turn: &mut Turn,
    ) {
        let ledger = Arc::clone(&self.ledger);
        let mut writing = stream::iter(seals)
            .map(|(shard, seal)| write(Arc::clone(&ledger), entry, shard, seal))
            .buffer_unordered(AT_ONCE);
        let (mut taken, mut written) = (BTreeMap::new(), false);
        while let Some((shard, end)) = self.meanwhile(turn, writing.next()).await {
            let Some(write) = first.note(end) else { continue };
            taken.extend(write.taken);
            let plan = match write.standing {
                Standing::Written(seal) => {
                    let users = u64::try_from(seal.due.len()).unwrap_or(u64::MAX);
                    turn.ticked.sealed += users;
                    self.metrics.sealed.inc_by(users);
                    written = true;
                    Some((seal, 0))
                }
                Standing::Known(known) => known,
                Standing::Elsewhere => None,
            };
            if let (Some((seal, batches)), Some(&epoch)) = (plan, wanted.get(&shard)) {
                let ours = self.has(&campaign.name);
                let plan = Plan::new(write.key.clone(), seal, ours, epoch, batches);
                self.plans.insert(write.key, plan);
            }
            self.sealed.insert((entry.night.clone(), entry.instant, shard));
        }
        tell(entry, written, &taken);
    }
}

/// What of an entry has to be told once.
fn tell(entry: &Entry, written: bool, taken: &BTreeMap<Zone, Instant>) {
    let (night, at) = (&entry.night, entry.instant);
    if !taken.is_empty() {
        let zones: Vec<_> = taken.iter().map(|(zone, at)| format!("{zone} at {at}")).collect();
        tracing::warn!(%night, %at, zones = zones.join(", "), "zones were sealed at another instant of this night and stay there");
    }
    for (zone, rule) in entry.shifted.iter().filter(|_| written) {
        tracing::info!(%night, %zone, %at, rule = rule.name(),
            "the clock of the zone changes at this hour: the run is shifted by the rule");
    }
}
