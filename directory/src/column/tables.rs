use std::collections::HashMap;

use domain::{ChannelName, Zone};

use crate::StoreError;

/// The most kinds of users a column tells apart.
pub const MOST_KINDS: usize = 1 << 16;

/// What many users have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Whether they want the push.
    pub consent: bool,
    /// The channels on which they have a device, in order of name, each once.
    pub channels: Vec<ChannelName>,
}

/// What the numbers in a column's pages stand for, and the users by zone.
#[derive(Default)]
pub(super) struct Tables {
    zones: Vec<Zone>,
    zone_places: HashMap<Zone, u32>,
    /// By zone: the users in it, and those who moved out of it.
    counts: Vec<(u64, u64)>,
    kinds: Vec<Kind>,
    kind_places: HashMap<Kind, u32>,
}

impl Tables {
    pub(super) fn zones(&self) -> &[Zone] {
        &self.zones
    }

    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    pub(super) fn population(&self) -> impl Iterator<Item = (Zone, u64)> + '_ {
        let used = self.zones.iter().zip(&self.counts).filter(|(_, (now, once))| now + once > 0);
        used.map(|(zone, (now, _))| (*zone, *now))
    }

    /// The number of a zone.
    pub(super) fn zone(&mut self, zone: Zone) -> u32 {
        // there are some hundred zones
        let next = u32::try_from(self.zones.len()).unwrap_or(u32::MAX);
        *self.zone_places.entry(zone).or_insert_with(|| {
            self.zones.push(zone);
            self.counts.push((0, 0));
            next
        })
    }

    /// The number of a kind.
    pub(super) fn kind(&mut self, kind: Kind) -> Result<u32, StoreError> {
        if let Some(place) = self.kind_places.get(&kind) {
            return Ok(*place);
        }
        if self.kinds.len() >= MOST_KINDS {
            return Err(StoreError::Full {
                what: "the kinds of users of a column",
                limit: MOST_KINDS as u64,
            });
        }
        let place = u32::try_from(self.kinds.len()).unwrap_or(u32::MAX);
        self.kinds.push(kind.clone());
        self.kind_places.insert(kind, place);
        Ok(place)
    }

    /// Counts a user in a zone, and in that before a move, in (`by` = 1) or out (-1).
    pub(super) fn count(&mut self, zone: u32, before: Option<u32>, by: i64) {
        let place = |zone| usize::try_from(zone).unwrap_or(usize::MAX);
        if let Some(count) = self.counts.get_mut(place(zone)) {
            count.0 = count.0.saturating_add_signed(by);
        }
        if let Some(count) = before.and_then(|zone| self.counts.get_mut(place(zone))) {
            count.1 = count.1.saturating_add_signed(by);
        }
    }

    /// About how many bytes of memory they take.
    pub(super) fn memory(&self) -> usize {
        let kinds =
            self.kinds.iter().map(|kind| kind.channels.len() * size_of::<ChannelName>() + size_of::<Kind>());
        2 * kinds.sum::<usize>() + self.zones.len() * 32
    }
}
