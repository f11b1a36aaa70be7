//! The leases on batches, in memory: whoever has the file open is alone, so they end with the process.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use domain::{BatchId, SealKey};

use crate::{Claim, Owner, Step, runs::Runs, turn::Hold};

/// The leases of a ledger. They change only before and after a write, never inside one, which may run twice.
#[derive(Default)]
pub(super) struct Leases(Mutex<HashMap<BatchId, Lease>>);

struct Lease {
    seal: SealKey,
    owner: Owner,
    until: Instant,
    /// Claimed by this owner in its last step.
    chunk: Runs,
    /// Being claimed by a step whose write is under way.
    claiming: Runs,
}

/// A lease that was taken for a step.
pub(super) struct Taken {
    pub(super) hold: Hold,
    /// Whether it was taken anew.
    new: bool,
}

/// A write is given up long before this; until then nobody else gets the lease.
const WRITING: Duration = Duration::from_secs(60);

impl Leases {
    /// Takes or keeps the lease for a step that is about to be written; how long another holds it, if one does.
    pub(super) fn take(&self, step: &Step) -> Result<Taken, Duration> {
        let now = Instant::now();
        let mut leases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        leases.retain(|_, lease| lease.until > now);
        let held = leases.get(&step.batch);
        if let Some(lease) = held.filter(|lease| lease.owner != step.owner) {
            return Err(lease.until - now);
        }
        let own = held.map(|lease| lease.chunk.clone()).unwrap_or_default();
        let new = held.is_none();
        let others = leases.iter().filter(|(batch, lease)| **batch != step.batch && lease.seal == step.seal);
        let others = Runs::of(others.flat_map(|(_, lease)| lease.chunk.iter().chain(lease.claiming.iter())));
        let lease = Lease {
            seal: step.seal.clone(),
            owner: step.owner,
            until: now + step.term.max(WRITING),
            chunk: own.clone(),
            claiming: Runs::of(step.claim.iter().map(|(position, _)| *position)),
        };
        leases.insert(step.batch, lease);
        Ok(Taken { hold: Hold { own, others }, new })
    }

    /// Books the end of a step's write: what it claimed, or `None` when nothing was written.
    pub(super) fn settle(&self, step: &Step, taken: &Taken, claimed: Option<&[Option<Claim>]>) {
        let mut leases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = if claimed.is_some() { step.term.is_zero() } else { taken.new };
        if over {
            leases.remove(&step.batch);
        } else if let Some(lease) = leases.get_mut(&step.batch) {
            lease.claiming = Runs::default();
            lease.until = Instant::now() + step.term;
            if let Some(claimed) = claimed {
                let granted = step.claim.iter().zip(claimed).filter(|(_, claim)| claim.is_some());
                lease.chunk = Runs::of(granted.map(|((position, _), _)| *position));
            }
        }
    }
}
