mod counting;
mod encoding;

use domain::{ChannelName, Instant, ShardCount, Uid, Zone};
pub(crate) use encoding::{decode, encode, instant};
use plumbing::StoreError;

use crate::{Claim, Reason};

/// The fixed list of who is due in a night's shard at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The night's shard count.
    pub n: ShardCount,
    /// The campaign's window in seconds.
    pub window: u32,
    /// The campaign's channels, first choice first; at most 32.
    pub channels: Vec<ChannelName>,
    /// The zones that fire at the instant; at most 256.
    pub zones: Vec<SealZone>,
    /// Who is due, in slot, channel and uid order. The place in it is the position of the claim.
    pub due: Vec<Due>,
}

/// A zone of a seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealZone {
    /// The zone.
    pub zone: Zone,
    /// Past this, to the second, its users get no push.
    pub deadline: Instant,
}

/// Somebody who is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The user.
    pub uid: Uid,
    /// The second of the window.
    pub slot: u32,
    /// Index into the seal's channels.
    pub channel: u8,
    /// Index into the seal's zones.
    pub zone: u8,
    /// Set for one who is over before it began.
    pub closed: Option<Reason>,
}

impl Due {
    /// The claim as the seal makes it.
    pub(crate) fn claim(&self) -> Claim {
        self.closed.map_or(Claim::FRESH, Claim::closed_at_once)
    }
}

impl Seal {
    /// Puts the due into the seal's order.
    pub fn sort(&mut self) {
        self.due.sort_unstable_by_key(|d| (d.slot, d.channel, d.uid));
    }

    /// The batches of the seal: runs of one slot and channel with at most `most` users that are not closed at once,
    /// each as the slot, the channel and the positions from and to (exclusive).
    pub fn batches(&self, most: usize) -> Vec<(u32, u8, std::ops::Range<usize>)> {
        let mut batches = Vec::new();
        let mut from = 0;
        while let Some(first) = self.due.get(from) {
            let run = self.due[from..].iter().take(most.max(1));
            let to = from + run.take_while(|d| (d.slot, d.channel) == (first.slot, first.channel)).count();
            batches.push((first.slot, first.channel, from..to));
            from = to;
        }
        batches
    }

    /// Refuses what no store takes.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.zones.is_empty() || self.zones.len() > 256 || self.channels.len() > 32 {
            return Err(StoreError::corrupt("seal", "1 to 256 zones and at most 32 channels are wanted"));
        }
        let (zones, channels) = (self.zones.len(), self.channels.len());
        if self.due.iter().any(|due| usize::from(due.zone) >= zones || usize::from(due.channel) >= channels) {
            return Err(StoreError::corrupt("seal", "a user's zone or channel is not in it"));
        }
        Ok(())
    }

    /// All positions of the seal.
    pub(crate) fn positions(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.due.len()).unwrap_or(u32::MAX)
    }

    /// The latest deadline of its zones.
    pub fn deadline(&self) -> Option<Instant> {
        self.zones.iter().map(|z| z.deadline).max()
    }
}
