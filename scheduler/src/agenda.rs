use std::collections::BTreeMap;

use chrono::TimeDelta;
use domain::{Campaign, Instant, Night, Rule, Zone, fire};
use night_ledger::SealZone;

/// Nights further back than this are not looked for any more (the spec: 14 days).
pub(crate) const DAYS_BACK: i64 = 14;

/// One instant of a night at which some zones fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) night: Night,
    pub(crate) instant: Instant,
    pub(crate) zones: Vec<SealZone>,
    /// The zones whose clock changes at this hour, and the rule by which the instant was found.
    pub(crate) shifted: Vec<(Zone, Rule)>,
}

impl Entry {
    fn new(night: Night, instant: Instant) -> Self {
        Self { night, instant, zones: Vec::new(), shifted: Vec::new() }
    }

    /// The latest deadline of its zones.
    pub(crate) fn deadline(&self) -> Instant {
        self.zones.iter().map(|z| z.deadline).max().unwrap_or(self.instant)
    }
}

/// What fires between `from` and `to`, by instant.
pub(crate) fn agenda(campaign: &Campaign, zones: &[Zone], from: Instant, to: Instant) -> Vec<Entry> {
    let mut entries: BTreeMap<(Instant, Night), Entry> = BTreeMap::new();
    for &zone in zones {
        // a day more on each side: a gap can push a fire past its date's end
        let mut day = zone.day_at(from).previous();
        let last = zone.day_at(to).next();
        while day <= last {
            if let Some(fire) = fire(&campaign.line, campaign.window, zone, day)
                && (from..=to).contains(&fire.at)
            {
                let night = Night { campaign: campaign.name.clone(), day };
                let entry =
                    entries.entry((fire.at, night.clone())).or_insert_with(|| Entry::new(night, fire.at));
                entry.zones.push(SealZone { zone, deadline: fire.deadline });
                if fire.rule != Rule::Exact {
                    entry.shifted.push((zone, fire.rule));
                }
            }
            if day == day.next() {
                break;
            }
            day = day.next();
        }
    }
    entries.into_values().collect()
}

/// How far back entries are looked for at `now`.
pub(crate) fn earliest(now: Instant) -> Instant {
    now.checked_sub_signed(TimeDelta::days(DAYS_BACK)).unwrap_or(now)
}
