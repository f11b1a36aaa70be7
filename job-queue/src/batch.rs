use domain::{BatchId, CampaignName, ChannelName, Day, Instant, Night, SealKey, Shard, Uid, Zone};

/// The most uids of one batch.
pub const MOST_UIDS: usize = 1_000;

/// Up to [`MOST_UIDS`] users of one shard, slot, channel and instant who are due a push. Its encoding is in
/// [`crate::encoding`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Its name; the same batch has the same one however often it is published.
    pub id: BatchId,
    /// The campaign.
    pub campaign: CampaignName,
    /// The night's `Day`.
    pub day: Day,
    /// The shard.
    pub shard: Shard,
    /// When the seal fires, to the second.
    pub instant: Instant,
    /// The second of the window it is due at.
    pub slot: u32,
    /// The channel it goes out on.
    pub channel: ChannelName,
    /// 1 for the first try, at most 15.
    pub attempt: u8,
    /// Not to be worked before this (real time, to the millisecond): it waits in the ladder.
    pub not_before: Option<Instant>,
    /// The zones of its users, at most 256, each with its deadline.
    pub zones: Vec<BatchZone>,
    /// Its users, by rising position.
    pub entries: Vec<BatchEntry>,
}

/// A zone of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchZone {
    /// The zone.
    pub zone: Zone,
    /// Past this, to the second, its users get no push.
    pub deadline: Instant,
}

/// A user of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchEntry {
    /// The user.
    pub uid: Uid,
    /// The place in the seal, which is the place of the claim.
    pub position: u32,
    /// Index into the batch's zones.
    pub zone: u8,
}

impl Batch {
    /// The night it belongs to.
    pub fn night(&self) -> Night {
        Night { campaign: self.campaign.clone(), day: self.day }
    }

    /// The seal it was cut from.
    pub fn seal(&self) -> SealKey {
        SealKey { night: self.night(), shard: self.shard, instant: self.instant }
    }

    /// The deadline of one of its users.
    pub fn deadline(&self, entry: &BatchEntry) -> Instant {
        self.zones[usize::from(entry.zone)].deadline
    }

    /// The latest of its deadlines.
    pub fn last_deadline(&self) -> Option<Instant> {
        self.zones.iter().map(|z| z.deadline).max()
    }
}
