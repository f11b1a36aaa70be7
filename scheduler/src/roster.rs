mod order;

use std::collections::{BTreeSet, HashMap};

use directory::{Column, ColumnRow};
use domain::{Campaign, Instant, Night, Shard, ShardCount, Zone, slot};
use night_ledger::{Due, Reason, Seal, SealZone};

use self::order::Order;
use crate::agenda::Entry;

/// The seals of all `n` shards for zones that fire together, as a tick makes them ahead of the hour; for measuring it.
pub fn seals_of(
    column: &Column,
    campaign: &Campaign,
    night: Night,
    instant: Instant,
    zones: Vec<SealZone>,
    n: ShardCount,
) -> Vec<(Shard, Seal)> {
    let entry = Entry { night, instant, zones, shifted: Vec::new() };
    seals(column, campaign, &entry, n, &Shard::all(n).collect(), &|_| false)
}

/// The seals of an entry of the agenda in these shards, from one walk over the column. Who is in an aborted zone is in them,
/// closed.
pub(crate) fn seals(
    column: &Column,
    campaign: &Campaign,
    entry: &Entry,
    n: ShardCount,
    shards: &BTreeSet<Shard>,
    aborted: &dyn Fn(Zone) -> bool,
) -> Vec<(Shard, Seal)> {
    let look_up = LookUp::new(column, campaign, entry, aborted);
    let users = usize::try_from(column.users()).unwrap_or(usize::MAX);
    let share = users / usize::try_from(n.get()).unwrap_or(usize::MAX).max(1);
    // the users of a shard that is not wanted go nowhere
    let mut due: Vec<Option<Vec<Due>>> = Shard::all(n)
        .map(|shard| shards.contains(&shard).then(|| Vec::with_capacity(look_up.share(share))))
        .collect();
    column.each(|row| {
        let shard = usize::try_from(Shard::of(row.uid, n).0).unwrap_or(usize::MAX);
        if let Some(Some(due)) = due.get_mut(shard)
            && let Some(one) = look_up.due(&row)
        {
            due.push(one);
        }
    });
    let mut order = Order::new(campaign.window, campaign.channels.len());
    let seals = Shard::all(n).zip(due).filter_map(|(shard, due)| {
        let mut due = due?;
        order.put(&mut due);
        due.shrink_to_fit();
        let seal = Seal {
            n,
            window: campaign.window,
            channels: campaign.channels.clone(),
            zones: entry.zones.clone(),
            due,
        };
        Some((shard, seal))
    });
    seals.collect()
}

/// What the numbers of the column mean for this entry.
struct LookUp<'a> {
    entry: &'a Entry,
    window: u32,
    /// By the column's zones: the place in the entry, and whether it is aborted.
    zones: Vec<Option<(u8, bool)>>,
    by_name: HashMap<Zone, (u8, bool)>,
    /// By the column's kinds: the place of the first channel of the campaign; `None` for nobody who is due.
    channels: Vec<Option<u8>>,
    /// Whether the entry has all zones that anybody is in.
    everybody: bool,
}

impl<'a> LookUp<'a> {
    fn new(column: &Column, campaign: &Campaign, entry: &'a Entry, aborted: &dyn Fn(Zone) -> bool) -> Self {
        let places = (0u8..=u8::MAX).zip(&entry.zones);
        let by_name: HashMap<_, _> = places.map(|(i, z)| (z.zone, (i, aborted(z.zone)))).collect();
        let zones: Vec<_> = column.zones().iter().map(|zone| by_name.get(zone).copied()).collect();
        let channels = column.kinds().iter().map(|kind| {
            let first = (0u8..).zip(&campaign.channels).find(|(_, channel)| kind.channels.contains(channel));
            first.filter(|_| kind.consent).map(|(i, _)| i)
        });
        let everybody = zones.iter().all(Option::is_some);
        Self { entry, window: campaign.window, channels: channels.collect(), everybody, zones, by_name }
    }

    /// How many of `users` to make room for at first.
    fn share(&self, users: usize) -> usize {
        if self.everybody { users + users / 16 } else { 0 }
    }

    /// Due are opted-in users with a device on a channel of the campaign, in the zone that holds for them on the `Day`.
    #[inline]
    fn due(&self, row: &ColumnRow) -> Option<Due> {
        let channel = (*self.channels.get(usize::from(row.kind))?)?;
        let now_in = || *self.zones.get(usize::from(row.zone))?;
        let (place, skipped) = match row.moved {
            None => (now_in(), false),
            // the zone before still holds
            Some(moved) if self.entry.night.day <= moved.last => {
                (self.by_name.get(&moved.from).copied(), false)
            }
            // the zone of this day is a new one, which may not have held yet at its hour
            Some(moved) => (now_in(), moved.holds_from().is_some_and(|from| from > self.entry.instant)),
        };
        let (zone, aborted) = place?;
        // who opted in after the hour is due the next night
        if row.due_from > 0 && !row.due_at(self.entry.instant) {
            return None;
        }
        let closed = match (skipped, aborted) {
            (true, _) => Some(Reason::ZoneMoved),
            (false, true) => Some(Reason::Operator),
            (false, false) => None,
        };
        Some(Due { uid: row.uid, slot: slot(row.uid, self.window), channel, zone, closed })
    }
}
