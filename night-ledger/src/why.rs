use domain::{BatchId, ChannelName, Instant, SealKey, Zone};

use crate::Claim;

/// What is known of one user's push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The seal.
    pub seal: SealKey,
    /// The place in it.
    pub position: u32,
    /// The second of the window.
    pub slot: u32,
    /// The zone.
    pub zone: Zone,
    /// The channel it is booked on.
    pub channel: ChannelName,
    /// The claim as it stands.
    pub claim: Claim,
    /// When a chunk with this user was worked, oldest first.
    pub worked: Vec<Worked>,
}

/// A chunk that was worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worked {
    /// When.
    pub at: Instant,
    /// The batch.
    pub batch: BatchId,
    /// Its attempt.
    pub attempt: u8,
}
