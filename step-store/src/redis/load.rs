use std::collections::HashMap;

use domain::Day;
use plumbing::{Command, Redis};

use super::{keys, scripts::WRITE};
use crate::{ReportId, outbox::MOST_KEPT};

/// The pages, groups of ids and reports that one script has to do with, so that it does not hold up the server for long. It
/// has one unit at least.
const MOST_IN_SCRIPT: usize = 256;

/// What one script writes: units of one part.
pub(super) struct Load {
    keys: Vec<String>,
    places: HashMap<String, usize>,
    units: Vec<Written>,
    weight: usize,
}

/// A unit as the script gets it. Keys are named by their place among the script's, from 1.
pub(super) struct Written {
    /// When the first of its `Day`s freezes, in ms since 1970.
    pub(super) freezes: Option<i64>,
    /// Its part of the posting.
    pub(super) posting: Vec<u8>,
    /// Users that something is stored of, 8 bytes each.
    pub(super) users: Vec<u8>,
    pub(super) puts: Vec<Put>,
    pub(super) asks: Vec<Ask>,
    pub(super) adds: Vec<Add>,
}

/// A page to write.
pub(super) struct Put {
    pub(super) key: usize,
    pub(super) day: Day,
    pub(super) page: u64,
    /// That of the value it comes after; empty where there is none.
    pub(super) revision: Vec<u8>,
    pub(super) value: Vec<u8>,
}

/// Ids to look for.
pub(super) struct Ask {
    /// Of one or two sets, else 0.
    pub(super) keys: [usize; 2],
    pub(super) ids: Vec<ReportId>,
}

/// Ids to add to a set.
pub(super) struct Add {
    pub(super) key: usize,
    /// Its time to live in seconds, from its first id.
    pub(super) ttl: i64,
    /// The most it holds with them.
    pub(super) most: usize,
    pub(super) ids: Vec<ReportId>,
}

impl Load {
    /// Nothing yet, for a part.
    pub(super) fn new(redis: &Redis, part: u32) -> Self {
        let keys = vec![
            keys::frozen(redis, part),
            keys::erased(redis, part),
            keys::feed(redis, part),
            keys::outbox(redis, part),
            keys::days(redis, part),
        ];
        Self { keys, places: HashMap::new(), units: Vec::new(), weight: 0 }
    }

    /// Whether another script is to be begun.
    pub(super) fn is_full(&self) -> bool {
        self.weight >= MOST_IN_SCRIPT
    }

    /// The place of a key among the script's.
    pub(super) fn key(&mut self, key: String) -> usize {
        *self.places.entry(key).or_insert_with_key(|key| {
            self.keys.push(key.clone());
            self.keys.len()
        })
    }

    /// One more unit.
    pub(super) fn push(&mut self, unit: Written) {
        let ids = unit.asks.iter().map(|ask| 1 + ask.ids.len()).sum::<usize>();
        self.weight += 1 + unit.puts.len() + ids + unit.adds.len();
        self.units.push(unit);
    }

    /// The script's call.
    pub(super) fn command(self) -> Command {
        let command = WRITE.call(&self.keys).arg(MOST_KEPT).arg(self.units.len());
        self.units.into_iter().fold(command, put_unit)
    }
}

fn put_unit(command: Command, unit: Written) -> Command {
    let freezes = unit.freezes.map_or_else(String::new, |freezes| freezes.to_string());
    let mut command = command.arg(freezes).arg(unit.posting).arg(unit.users).arg(unit.puts.len());
    for Put { key, day, page, revision, value } in unit.puts {
        command = command.arg(key).arg(day.number()).arg(page).arg(revision).arg(value);
    }
    command = command.arg(unit.asks.len());
    for Ask { keys: [first, second], ids } in unit.asks {
        command = put_ids(command.arg(first).arg(second), &ids);
    }
    command = command.arg(unit.adds.len());
    for Add { key, ttl, most, ids } in unit.adds {
        command = put_ids(command.arg(key).arg(ttl).arg(most), &ids);
    }
    command
}

/// Signed, as a set of small numbers keeps them in 8 bytes.
fn put_ids(command: Command, ids: &[ReportId]) -> Command {
    ids.iter().fold(command.arg(ids.len()), |command, id| command.arg(id.0.cast_signed()))
}
