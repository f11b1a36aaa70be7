//! The agenda: what fires, and has fired, as far as anybody here is due.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use domain::{CampaignName, Instant};
use night_ledger::StoreError;

use super::Scheduler;
use crate::agenda::{self, Entry};

/// The agenda as it was made, and when; made again every half minute and whenever the clock went back.
pub(super) struct Agenda {
    made: Instant,
    /// By instant, each with the index of its campaign.
    pub(super) entries: Vec<(usize, Entry)>,
    /// When each campaign, with its line, was first seen here.
    pub(super) first_seen: BTreeMap<CampaignName, Instant>,
}

/// An agenda older than this is made again.
const AGE: TimeDelta = TimeDelta::seconds(30);
/// How far the agenda looks beyond the time to prepare.
const AHEAD: TimeDelta = TimeDelta::hours(2);

impl Scheduler {
    /// Makes the agenda where it is old; one that could not be made anew still holds.
    pub(super) async fn make_agenda(&mut self, now: Instant) -> Result<(), StoreError> {
        let fresh = |a: &Agenda| a.made <= now && now - a.made < AGE;
        if self.agenda.as_ref().is_some_and(fresh) {
            return Ok(());
        }
        if !self.column.loaded() {
            return Err(StoreError::Unavailable("the users are not loaded yet".into()));
        }
        let zones: Vec<_> = self.column.population().map(|(zone, _)| zone).collect();
        let until = now.checked_add_signed(self.prepare_ahead() + AHEAD).unwrap_or(now);
        let (mut entries, mut first_seen) = (Vec::new(), BTreeMap::new());
        for (index, campaign) in self.campaigns.iter().enumerate() {
            let seen = self.ledger.first_seen(&campaign.name, &campaign.line.to_string(), now).await?;
            first_seen.insert(campaign.name.clone(), seen);
            let upcoming = agenda::agenda(campaign, &zones, agenda::earliest(now), until);
            entries.extend(upcoming.into_iter().map(|entry| (index, entry)));
        }
        entries.sort_by_key(|(_, entry)| entry.instant);
        self.agenda = Some(Agenda { made: now, entries, first_seen });
        Ok(())
    }

    /// The entries that are wanted and have something left to seal, by instant. `wanted` is asked with the moment at which
    /// the campaign was first seen.
    pub(super) fn unsettled(&self, wanted: impl Fn(&Entry, Instant) -> bool) -> Vec<(usize, Entry)> {
        let Some(agenda) = &self.agenda else { return Vec::new() };
        let unsettled = agenda.entries.iter().filter(|(index, entry)| {
            let seen = self.campaigns.get(*index).and_then(|c| agenda.first_seen.get(&c.name));
            seen.is_some_and(|&seen| wanted(entry, seen))
                && !self.settled.contains(&(entry.night.clone(), entry.instant))
        });
        unsettled.cloned().collect()
    }
}
