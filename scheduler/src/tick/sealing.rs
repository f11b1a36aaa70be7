//! The seal: who is due, fixed before the hour.

mod writing;

use std::{
    collections::BTreeMap,
    time::{Duration, Instant as RealInstant},
};

use domain::{Instant, Shard, ShardCount, Zone};
use night_ledger::StoreError;

use self::writing::Standing;
use super::{Scheduler, Ticked, by_now};
use crate::{agenda::Entry, first_error::FirstError, roster};

/// An entry whose seals failed.
pub(super) struct HeldBack {
    error: StoreError,
    /// When it is tried again.
    until: RealInstant,
    /// How long it waits if it fails again.
    next: Duration,
}

/// Entries past their deadline that are sealed in one tick: each reads the whole roster.
const MOST_PAST: usize = 16;
/// How long a failed entry waits when its second try failed, doubled with each further one.
const WAIT: Duration = Duration::from_millis(250);
/// The longest such wait.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

impl Scheduler {
    /// Seals what fires within the time to prepare, and what was found unsealed and is inside its deadline. It does not
    /// matter when the campaign was first seen.
    pub(super) async fn seal_ahead(&mut self, now: Instant, ticked: &mut Ticked) -> Result<(), StoreError> {
        let ahead = self.prepare_ahead();
        let mut first = FirstError::default();
        for (index, entry) in self.unsettled(|e, _| e.instant - ahead <= now && e.deadline() > now) {
            if self.waits(&entry, &mut first) {
                continue;
            }
            first.note(self.seal_entry(index, &entry, ticked).await);
        }
        first.end()
    }

    /// Seals what was found unsealed past its deadline, so that it can be counted as missed: some entries a tick, and no
    /// more than one while something waits to be published. A night that was over before its campaign was first seen with
    /// this line is nobody's.
    pub(super) async fn seal_past(
        &mut self,
        now: Instant,
        began: RealInstant,
        ticked: &mut Ticked,
    ) -> Result<(), StoreError> {
        let mut first = FirstError::default();
        let mut done = 0;
        for (index, entry) in self.unsettled(|e, seen| e.deadline() <= now && e.deadline() > seen) {
            if self.waits(&entry, &mut first) {
                continue;
            }
            if done >= MOST_PAST || done > 0 && self.slot_due(by_now(now, began)) {
                ticked.behind = true;
                break;
            }
            let read = first.note(self.seal_entry(index, &entry, ticked).await);
            done += usize::from(read != Some(false));
        }
        first.end()
    }

    /// Whether an entry that failed is not to be tried again yet; its error is noted again.
    fn waits(&self, entry: &Entry, first: &mut FirstError) -> bool {
        let held = self.held_back.get(&(entry.night.clone(), entry.instant));
        let held = held.filter(|held| held.until > RealInstant::now());
        held.is_some_and(|held| first.note::<()>(Err(held.error.clone())).is_none())
    }

    /// Seals an entry; answers whether the roster had to be read for it.
    async fn seal_entry(
        &mut self,
        index: usize,
        entry: &Entry,
        ticked: &mut Ticked,
    ) -> Result<bool, StoreError> {
        let end = self.seal_shards(index, entry, ticked).await;
        let name = (entry.night.clone(), entry.instant);
        let before = self.held_back.remove(&name);
        if let Err(error) = &end {
            let wait = before.map_or(Duration::ZERO, |held| held.next);
            let next = (wait * 2).clamp(WAIT, LONGEST_WAIT);
            let held = HeldBack { error: error.clone(), until: RealInstant::now() + wait, next };
            self.held_back.insert(name, held);
        }
        end
    }

    /// Seals an entry in every shard of ours that is not sealed yet. One that fails holds up no other.
    async fn seal_shards(
        &mut self,
        index: usize,
        entry: &Entry,
        ticked: &mut Ticked,
    ) -> Result<bool, StoreError> {
        let Some(campaign) = self.campaigns.get(index).cloned() else { return Ok(false) };
        let n = self.ledger.shard_count(&entry.night, self.settings.shards).await?;
        let mut first = FirstError::default();
        let (wanted, lost) = self.wanted(entry, n, &mut first).await;
        if wanted.is_empty() {
            // one that was lost may come back at the next tick
            if first.none() && !lost {
                self.settled.insert((entry.night.clone(), entry.instant));
            }
            return first.end().map(|()| false);
        }
        let seals = roster::seals(&*self.directory, &campaign, entry, n).await?;
        let (mut taken, mut written) = (BTreeMap::new(), false);
        for (shard, seal) in seals {
            let Some(&epoch) = wanted.get(&shard) else { continue };
            let standing = self.write_seal(entry, shard, epoch, seal, &mut taken).await;
            if let Some(Standing::Written(users)) = first.note(standing) {
                ticked.sealed += users;
                self.metrics.sealed.inc_by(users);
                written = true;
            }
        }
        tell(entry, written, &taken);
        first.end().map(|()| true)
    }

    /// The shards of ours in which the entry is not sealed, with their epochs, and whether one was found to be another's.
    async fn wanted(
        &mut self,
        entry: &Entry,
        n: ShardCount,
        first: &mut FirstError,
    ) -> (BTreeMap<Shard, u64>, bool) {
        let (mut wanted, mut lost) = (BTreeMap::new(), false);
        for shard in Shard::all(n) {
            let place = (entry.night.clone(), entry.instant, shard);
            let Some(epoch) = self.shards.epoch(shard) else { continue };
            if self.sealed.contains(&place) {
                continue;
            }
            // whatever is there already came with the shard
            let ours = first.note(self.load_place(&entry.night, shard, epoch).await);
            lost |= ours == Some(false);
            if ours == Some(true) && !self.sealed.contains(&place) {
                wanted.insert(shard, epoch);
            }
        }
        (wanted, lost)
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
