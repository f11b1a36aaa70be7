use std::collections::HashMap;

use chrono::TimeDelta;
use directory::{Home, UserDay};
use domain::{Day, Instant, Zone};
use step_store::Report;

use crate::{
    Reason,
    item::{Item, Refused},
};

/// How long after the freeze the store knows ids (spec).
const KNOWN: TimeDelta = TimeDelta::hours(48);

/// Tells on which `Day` an event counts, and whether that is open. Days of one request are mostly a handful: they are kept.
pub(crate) struct Placing {
    now: Instant,
    known: HashMap<(Zone, Day), Option<UserDay>>,
}

impl Placing {
    /// By the server's clock.
    pub(crate) fn at(now: Instant) -> Self {
        Self { now, known: HashMap::new() }
    }

    /// The report that an item is. One for a frozen `Day` is still one where it has an id: the store may know it, for a time.
    pub(crate) fn report(&mut self, item: Item, home: Home) -> Result<Report, Refused> {
        let day = self.day(home, item.at).ok_or(Refused::of(Reason::TooLate))?;
        if self.now < day.opens() {
            return Err(Refused::of(Reason::Future));
        }
        let known = item.id.is_some() && self.now - day.freezes() < KNOWN;
        if self.now >= day.freezes() && !known {
            return Err(Refused::of(Reason::TooLate));
        }
        let Item { uid, source, amount, id, .. } = item;
        Ok(Report { uid, day: day.day, source, amount, id, freezes: day.freezes() })
    }

    fn day(&mut self, home: Home, at: Instant) -> Option<UserDay> {
        if home.moved.is_some() {
            return home.day_at(at);
        }
        let key = (home.zone, home.zone.day_at(at));
        *self.known.entry(key).or_insert_with(|| home.day_at(at))
    }
}
