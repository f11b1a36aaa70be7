use std::collections::HashMap;

use directory::{Directory, RosterPage, RosterRow, StoreError};
use domain::{Campaign, Shard, ShardCount, Zone, slot};
use night_ledger::{Due, Reason, Seal};

use crate::agenda::Entry;

/// Rows asked of the directory at once.
const PAGE: usize = 10_000;

/// Reads the roster once and makes the seals of all `n` shards for an entry of the agenda.
pub(crate) async fn seals(
    directory: &dyn Directory,
    campaign: &Campaign,
    entry: &Entry,
    n: ShardCount,
) -> Result<Vec<(Shard, Seal)>, StoreError> {
    let empty = Seal {
        n,
        window: campaign.window,
        channels: campaign.channels.clone(),
        zones: entry.zones.clone(),
        due: Vec::new(),
    };
    let mut seals: Vec<_> = Shard::all(n).map(|shard| (shard, empty.clone())).collect();
    let zones: HashMap<Zone, u8> = (0u8..=u8::MAX).zip(&entry.zones).map(|(i, z)| (z.zone, i)).collect();
    let mut after = None;
    loop {
        let page = directory.roster(after, PAGE).await?;
        let order = order(&page, campaign);
        for row in &page.rows {
            if let Some(due) = due(row, campaign, entry, &zones, &order) {
                let shard = usize::try_from(Shard::of(row.uid, n).0).unwrap_or_default();
                seals[shard].1.due.push(due);
            }
        }
        match page.rows.last() {
            Some(last) if page.rows.len() >= PAGE => after = Some(last.uid),
            _ => break,
        }
    }
    seals.iter_mut().for_each(|(_, seal)| seal.sort());
    Ok(seals)
}

/// The bit of each of the campaign's channels in a page, by the campaign's order.
fn order(page: &RosterPage, campaign: &Campaign) -> Vec<(u32, u8)> {
    let bit = |name| page.channels.iter().position(|c| c == name).map(|i| 1u32 << i);
    (0u8..).zip(&campaign.channels).filter_map(|(i, name)| Some((bit(name)?, i))).collect()
}

/// Due are opted-in users with a device on a channel of the campaign, in the zone that holds for them on the `Day`.
fn due(
    row: &RosterRow,
    campaign: &Campaign,
    entry: &Entry,
    zones: &HashMap<Zone, u8>,
    order: &[(u32, u8)],
) -> Option<Due> {
    let moved = row.moved.filter(|m| entry.night.day <= m.last);
    let &zone = zones.get(&moved.map_or(row.zone, |m| m.from))?;
    // who opted in after the hour is due the next night
    if !row.consent || row.due_from > entry.instant {
        return None;
    }
    let &(_, channel) = order.iter().find(|(bit, _)| row.channels & bit != 0)?;
    // the zone of this day is a new one that did not hold yet at its hour
    let skipped =
        moved.is_none() && row.moved.and_then(|m| m.holds_from()).is_some_and(|from| from > entry.instant);
    Some(Due {
        uid: row.uid,
        slot: slot(row.uid, campaign.window),
        channel,
        zone,
        closed: skipped.then_some(Reason::ZoneMoved),
    })
}
