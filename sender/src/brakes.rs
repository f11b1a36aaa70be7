use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::Night;
use night_ledger::{Brakes, NightLedger, StoreError};
use tokio::time::Instant;

/// The brakes on the nights that are being worked, as they were read a moment ago: each night is asked for once a second,
/// so that an operator's word holds within that and a chunk.
#[derive(Debug, Default)]
pub(crate) struct KnownBrakes(Mutex<HashMap<Night, (Instant, Arc<Brakes>)>>);

/// How long an answer holds.
const FRESH: Duration = Duration::from_secs(1);
/// How long the last one is used when the ledger does not answer; it also refuses the claims then.
const STALE: Duration = Duration::from_secs(10);

impl KnownBrakes {
    /// The brakes on a night.
    pub(crate) async fn of(
        &self,
        ledger: &dyn NightLedger,
        night: &Night,
    ) -> Result<Arc<Brakes>, StoreError> {
        let known = self.known(night);
        if let Some((at, brakes)) = &known
            && at.elapsed() < FRESH
        {
            return Ok(Arc::clone(brakes));
        }
        let asked = Instant::now();
        match ledger.brakes(night).await {
            Ok(brakes) => {
                let brakes = Arc::new(brakes);
                let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                all.retain(|_, (at, _)| at.elapsed() < STALE);
                all.insert(night.clone(), (asked, Arc::clone(&brakes)));
                Ok(brakes)
            }
            Err(error) => match known {
                Some((at, brakes)) if at.elapsed() < STALE => Ok(brakes),
                _ => Err(error),
            },
        }
    }

    fn known(&self, night: &Night) -> Option<(Instant, Arc<Brakes>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(night).cloned()
    }
}
