use chrono::TimeDelta;
use domain::{BatchId, ChannelName, Instant, SealKey};
use job_queue::{Batch, BatchEntry, BatchZone, MOST_UIDS};
use night_ledger::Seal;

use crate::held_back::HeldBack;

/// A seal on its way into the queue: its batches in order, and how many of them are confirmed.
pub(crate) struct Plan {
    pub(crate) key: SealKey,
    /// Whether its campaign is ours to publish; what is not is only closed.
    pub(crate) ours: bool,
    pub(crate) deadline: Instant,
    /// Batches confirmed by the queue and recorded in the ledger.
    pub(crate) confirmed: u32,
    /// Batches confirmed by the queue, at least as many: those beyond are in it, and only have to be recorded.
    pub(crate) queued: u32,
    /// Set while they could not be recorded.
    pub(crate) held_back: Option<HeldBack>,
    /// The epoch under which this owner writes checkpoints.
    pub(crate) epoch: u64,
    /// Without its users once all are published: they are most of it.
    seal: Seal,
    users: usize,
    cuts: Vec<(u32, u8, std::ops::Range<usize>)>,
}

impl Plan {
    pub(crate) fn new(key: SealKey, seal: Seal, ours: bool, epoch: u64, confirmed: u32) -> Self {
        let deadline = seal.deadline().unwrap_or(key.instant);
        let (cuts, users) = (seal.batches(MOST_UIDS), seal.due.len());
        let mut plan =
            Self { key, ours, deadline, confirmed: 0, queued: 0, held_back: None, epoch, cuts, users, seal };
        plan.confirm(confirmed);
        plan
    }

    /// Notes that so many batches are confirmed and recorded.
    pub(crate) fn confirm(&mut self, batches: u32) {
        (self.confirmed, self.queued) = (batches, self.queued.max(batches));
        self.held_back = None;
        if self.cut(batches).is_none() || !self.ours {
            self.seal.due = Vec::new();
        }
    }

    /// Whether it may still be published at `now`: nothing goes out past the deadline.
    pub(crate) fn publishable(&self, now: Instant) -> bool {
        self.ours && self.deadline > now
    }

    /// Whether it has fired, is not wholly published and still can be.
    pub(crate) fn publishing(&self, now: Instant) -> bool {
        self.publishable(now) && self.key.instant <= now && self.next_due().is_some()
    }

    /// When the next batch that is not recorded is due; `None` when all are.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.due_of(self.confirmed)
    }

    /// When the next batch that is not in the queue is due; `None` when all are.
    pub(crate) fn next_slot(&self) -> Option<Instant> {
        self.due_of(self.queued)
    }

    /// When the batch with this index is due; `None` behind the last.
    pub(crate) fn due_of(&self, index: u32) -> Option<Instant> {
        self.cut(index).map(|(slot, ..)| self.due_at(*slot))
    }

    /// The channels its batches may go to.
    pub(crate) fn channels(&self) -> &[ChannelName] {
        &self.seal.channels
    }

    /// The batches from this index on that are due at `now`, at most `most`, and the index behind them.
    pub(crate) fn due(&self, from: u32, now: Instant, most: usize) -> (Vec<Batch>, u32) {
        let mut batches = Vec::new();
        let mut upto = from;
        while batches.len() < most && self.due_of(upto).is_some_and(|due| due <= now) {
            batches.extend(self.batch(upto));
            upto += 1;
        }
        (batches, upto)
    }

    /// Users in the batches that are in the queue: those of ours, and the first `recorded`, which may be another's.
    pub(crate) fn published_users(&self, recorded: u32) -> u32 {
        let users = self.cut(self.queued.max(recorded)).map_or(self.users, |(.., users)| users.start);
        u32::try_from(users).unwrap_or(u32::MAX)
    }

    fn cut(&self, index: u32) -> Option<&(u32, u8, std::ops::Range<usize>)> {
        self.cuts.get(usize::try_from(index).ok()?)
    }

    fn due_at(&self, slot: u32) -> Instant {
        self.key.instant + TimeDelta::seconds(slot.into())
    }

    /// The batch with this index; `None` when everybody in it was closed by the seal itself.
    fn batch(&self, index: u32) -> Option<Batch> {
        let (slot, channel, users) = self.cut(index)?;
        let mut zones: Vec<u8> = Vec::new();
        // each zone's place among them: there are up to 256, and a look-up for each user
        let mut places = [None; 1 << u8::BITS];
        let mut entries = Vec::with_capacity(users.len());
        for (position, due) in users.clone().zip(self.seal.due.get(users.clone())?) {
            if due.closed.is_some() {
                continue;
            }
            let place = &mut places[usize::from(due.zone)];
            let zone = match *place {
                Some(zone) => zone,
                None => {
                    let zone = u8::try_from(zones.len()).ok()?;
                    zones.push(due.zone);
                    *place.insert(zone)
                }
            };
            entries.push(BatchEntry { uid: due.uid, position: u32::try_from(position).ok()?, zone });
        }
        let zones = zones.iter().map(|&z| {
            let zone = self.seal.zones[usize::from(z)];
            BatchZone { zone: zone.zone, deadline: zone.deadline }
        });
        (!entries.is_empty()).then(|| Batch {
            id: BatchId::root(&self.key, index),
            campaign: self.key.night.campaign.clone(),
            day: self.key.night.day,
            shard: self.key.shard,
            instant: self.key.instant,
            slot: *slot,
            channel: self.seal.channels[usize::from(*channel)].clone(),
            attempt: 1,
            not_before: None,
            zones: zones.collect(),
            entries,
        })
    }
}
