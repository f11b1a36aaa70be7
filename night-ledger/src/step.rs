use std::time::Duration;

use domain::{BatchId, ChannelName, Instant, SealKey, Zone};

use crate::{Claim, Outcome, Owner};

/// One step of the work on a batch.
#[derive(Clone, Debug)]
pub struct Step {
    /// The seal the batch was cut from.
    pub seal: SealKey,
    /// The batch.
    pub batch: BatchId,
    /// Its attempt.
    pub attempt: u8,
    /// Its channel, on which its users are booked.
    pub channel: ChannelName,
    /// Who works on it.
    pub owner: Owner,
    /// How long the lease on the batch is to last from now (real time); zero gives it up.
    pub term: Duration,
    /// Outcomes of claimed positions, to be booked. One that the batch no longer holds is passed over.
    pub done: Vec<Done>,
    /// Positions to claim, each with the zone it was sealed in.
    pub claim: Vec<(u32, Zone)>,
    /// What has to be published before the batch may be acknowledged: kept in the same step as the outcomes that ask for
    /// it, so that work that is interrupted publishes the very same. The ledger does not read it. It takes the place of what
    /// this owner left before, and of nobody else's; `None` changes nothing.
    pub pending: Option<Vec<u8>>,
    /// When the chunk was pushed, kept for "when?".
    pub at: Instant,
}

/// The outcome of one claimed position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The position.
    pub position: u32,
    /// The zone it was sealed in.
    pub zone: Zone,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stepped {
    /// Done. For each position of `claim`, in order, its claim if it is now this batch's.
    Done(Vec<Option<Claim>>),
    /// Another owner holds the lease on the batch for so long; nothing changed.
    Held(Duration),
    /// There is no such seal, or no such position in it; nothing changed.
    NoSeal,
}
