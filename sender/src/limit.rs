//! The sender's own side of a provider's quota.

mod pause;
mod rate;

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use self::{pause::Pause, rate::Rate};
use crate::channel::Quota;

/// What one channel of this process may send: pushes a second and a minute, pushes in flight, and a pause for all when
/// the provider asks for one. A channel without a quota pays for an atomic read a push.
#[derive(Debug)]
pub struct Limits {
    pause: Pause,
    rate: Option<Rate>,
    in_flight: Option<Arc<Semaphore>>,
}

/// Leave to make one push; a place in flight is taken until it is dropped.
#[derive(Debug)]
#[must_use = "the place in flight is given back when this is dropped"]
pub struct Permit {
    _in_flight: Option<OwnedSemaphorePermit>,
}

/// There is no leave in the time allowed, but about so long from now there should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no quota for {0:?}")]
pub struct Wait(pub Duration);

impl Limits {
    /// The limits of a quota. No window of a second or a minute, wherever it begins, sees more pushes than the quota
    /// says; no more than `chunk` come at once.
    pub fn new(quota: &Quota, chunk: usize) -> Self {
        let places = |n: std::num::NonZeroU32| usize::try_from(n.get()).unwrap_or(Semaphore::MAX_PERMITS);
        Self {
            pause: Pause::new(),
            rate: Rate::new(quota, chunk),
            in_flight: quota.in_flight.map(|n| Arc::new(Semaphore::new(places(n)))),
        }
    }

    /// Leave for one push, waited for at most for `most`. It counts from now on, whatever becomes of the push. Those
    /// who wait come up in turn.
    ///
    /// # Errors
    /// [`Wait`], at once where it is plain that `most` will not do.
    pub async fn acquire(&self, most: Duration) -> Result<Permit, Wait> {
        if self.rate.is_none() && self.in_flight.is_none() && self.pause.left().is_none() {
            return Ok(Permit { _in_flight: None });
        }
        let until = after(most);
        // a place first: what is taken of a rate is gone, a place comes back
        self.pause.wait(until).await?;
        let _in_flight = match &self.in_flight {
            Some(places) => Some(place(places, until, most).await?),
            None => None,
        };
        loop {
            self.pause.wait(until).await?;
            if let Some(rate) = &self.rate {
                rate.take(until).await?;
            }
            // the provider may have asked for a pause while this one waited for its turn
            if self.pause.left().is_none() {
                return Ok(Permit { _in_flight });
            }
        }
    }

    /// Pauses the whole channel for so long from now. Of several pauses the one that ends last holds.
    pub fn throttle(&self, after: Duration) {
        self.pause.set(after);
    }

    /// How long the channel is paused yet; `None` when it is not.
    pub fn paused(&self) -> Option<Duration> {
        self.pause.left()
    }
}

async fn place(
    places: &Arc<Semaphore>,
    until: Instant,
    most: Duration,
) -> Result<OwnedSemaphorePermit, Wait> {
    if let Ok(place) = places.clone().try_acquire_owned() {
        return Ok(place);
    }
    // how long others keep theirs is not known: what was too short may do the next time
    match timeout_at(until, places.clone().acquire_owned()).await {
        Ok(Ok(place)) => Ok(place),
        Ok(Err(_)) | Err(_) => Err(Wait(most)),
    }
}

/// The instant `most` from now, a day at most.
fn after(most: Duration) -> Instant {
    Instant::now() + most.min(Duration::from_secs(24 * 60 * 60))
}

#[cfg(test)]
mod tests;
