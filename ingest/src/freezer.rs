use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant as RealInstant},
};

use chrono::TimeDelta;
use directory::Directory;
use domain::{Instant, Zone};
use plumbing::Clock;
use step_store::{StepStore, StoreError};
use tokio_util::sync::CancellationToken;

/// How long after the end of a `Day` it freezes (spec).
const AFTER: TimeDelta = TimeDelta::minutes(5);
/// How often the zones of users are read anew.
const ZONES_FOR: Duration = Duration::from_secs(30);
/// The longest wait between two looks: the clock may be moved.
const PAUSE: Duration = Duration::from_secs(1);
/// How late a freeze may be before it is said.
const LATE: TimeDelta = TimeDelta::seconds(30);

/// Raises the step store's watermark once for each instant at which some zone with users freezes a `Day`; after a time away once
/// for all that have passed. Any number of processes may do so: the watermark only rises.
pub struct Freezer {
    directory: Arc<dyn Directory>,
    steps: Arc<dyn StepStore>,
    zones: Mutex<Option<(RealInstant, Vec<Zone>)>>,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Default)]
struct State {
    /// What the store was raised to here.
    frozen: Option<Instant>,
    /// What it should have been raised to, where that failed.
    owed: Option<Instant>,
}

/// Freezes until `stop`.
pub async fn freeze(freezer: Arc<Freezer>, clock: Arc<Clock>, stop: CancellationToken) {
    loop {
        let now = clock.now();
        let wait = match freezer.step(now).await {
            Ok(next) => clock.until(next.unwrap_or(now + TimeDelta::seconds(1))).min(PAUSE),
            Err(error) => {
                tracing::warn!(%error, "a day could not be frozen");
                PAUSE
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = stop.cancelled() => return,
        }
    }
}

impl Freezer {
    /// One over these stores.
    pub fn new(directory: Arc<dyn Directory>, steps: Arc<dyn StepStore>) -> Self {
        Self { directory, steps, zones: Mutex::default(), state: Mutex::default() }
    }

    /// Freezes what is due at `now`. Answers when the next is; `None` without users.
    pub async fn step(&self, now: Instant) -> Result<Option<Instant>, StoreError> {
        let zones = self.zones().await?;
        let Some(due) = zones.iter().filter_map(|zone| last(*zone, now)).max() else { return Ok(None) };
        if self.state().frozen.is_none_or(|frozen| frozen < due) {
            self.state().owed = Some(due);
            self.steps.freeze(due).await?;
            *self.state() = State { frozen: Some(due), owed: None };
            tracing::info!(to = %due, "days are frozen");
        }
        Ok(zones.iter().filter_map(|zone| next(*zone, now)).min())
    }

    /// Since when a freeze is owed at `now`, where it is late.
    pub fn late(&self, now: Instant) -> Option<Instant> {
        self.state().owed.filter(|owed| now - *owed > LATE)
    }

    async fn zones(&self) -> Result<Vec<Zone>, StoreError> {
        let held = self.zones.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // while there is nobody, somebody may come at any moment
        if let Some((_, zones)) = held.filter(|(at, zones)| at.elapsed() < ZONES_FOR && !zones.is_empty()) {
            return Ok(zones);
        }
        let zones: Vec<_> = self.directory.zones().await?.into_iter().map(|(zone, _)| zone).collect();
        let at = RealInstant::now();
        *self.zones.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, zones.clone()));
        Ok(zones)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When a zone froze last: five minutes after the beginning of the `Day` that it was in then.
fn last(zone: Zone, now: Instant) -> Option<Instant> {
    let before = now - AFTER;
    Some(zone.edges(zone.day_at(before))?.begins + AFTER)
}

/// When it freezes next.
fn next(zone: Zone, now: Instant) -> Option<Instant> {
    let before = now - AFTER;
    Some(zone.edges(zone.day_at(before))?.ends + AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    #[test]
    fn a_zone_freezes_five_minutes_after_each_midnight() {
        let tokyo: Zone = "Asia/Tokyo".parse().unwrap();
        let (first, second) = (at("2026-06-06T15:05:00Z"), at("2026-06-07T15:05:00Z"));
        for (now, wanted) in [
            ("2026-06-07T15:04:59.999Z", (first, second)),
            ("2026-06-07T15:05:00Z", (second, at("2026-06-08T15:05:00Z"))),
            ("2026-06-06T15:05:00Z", (first, second)),
        ] {
            assert_eq!((last(tokyo, at(now)).unwrap(), next(tokyo, at(now)).unwrap()), wanted, "{now}");
        }
    }

    /// The last freeze is that of the `Day` that ended last, in every zone and season.
    #[test]
    fn it_is_the_freeze_of_the_day_before() {
        let mut now = at("2026-01-01T00:00:00Z");
        for zone in Zone::all().step_by(7) {
            for _ in 0..40 {
                now += TimeDelta::hours(219);
                let froze = last(zone, now).unwrap();
                assert!(froze <= now && next(zone, now).unwrap() > now);
                let ended = zone.edges(zone.day_at(froze - AFTER - TimeDelta::seconds(1))).unwrap();
                assert_eq!(ended.freezes, froze, "{zone} {now}");
            }
        }
    }
}
