//! The sender's own side of a provider's quota.

mod in_flight;
mod leave;
mod pause;
mod rate;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use self::{
    in_flight::{InFlight, Place},
    leave::Leave,
    pause::Pause,
    rate::Rate,
};
use crate::channel::Quota;

/// What one channel of this process may send: pushes a second and a minute, pushes in flight, and a pause for all when
/// the provider asks for one. It is the whole quota until [`Limits::rest`] or [`Limits::allow`] say otherwise. A channel
/// without a quota pays for two atomic reads a push.
#[derive(Debug)]
pub struct Limits {
    quota: Quota,
    pause: Pause,
    leave: Leave,
    rate: Option<Rate>,
    in_flight: Option<InFlight>,
    /// The share that holds; `None` when the last word was to rest.
    share: Mutex<Option<Quota>>,
}

/// Leave to make one push; a place in flight is taken until it is dropped.
#[derive(Debug)]
#[must_use = "the place in flight is given back when this is dropped"]
pub struct Permit {
    _in_flight: Option<Place>,
    waited: bool,
}

impl Permit {
    /// Whether it may have been waited for, so that what was known before is to be looked at again.
    pub(crate) fn waited(&self) -> bool {
        self.waited
    }
}

/// There is no leave in the time allowed, but about so long from now there should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no quota for {0:?}")]
pub struct Wait(pub Duration);

/// What is told to who comes while the channel rests: another sender may have leave, or this one in a few seconds.
const RESTING: Duration = Duration::from_secs(5);

impl Limits {
    /// The limits of a quota. No window of a second or a minute, wherever it begins, sees more pushes than the quota
    /// says; no more than `chunk` come at once.
    pub fn new(quota: &Quota, chunk: usize) -> Self {
        Self {
            quota: quota.clone(),
            pause: Pause::new(),
            leave: Leave::for_ever(),
            rate: Rate::new(quota, chunk),
            in_flight: quota.in_flight.map(InFlight::new),
            share: Mutex::new(Some(quota.clone())),
        }
    }

    /// Leave for one push, waited for at most for `most`. It counts from now on, whatever becomes of the push. Those
    /// who wait come up in turn.
    ///
    /// # Errors
    /// [`Wait`], at once where it is plain that `most` will not do.
    pub async fn acquire(&self, most: Duration) -> Result<Permit, Wait> {
        self.leave.ask()?;
        if self.rate.is_none() && self.in_flight.is_none() && self.pause.left().is_none() {
            return Ok(Permit { _in_flight: None, waited: false });
        }
        // apart: a push that need not ask should not carry what waiting takes
        Box::pin(self.in_turn(most)).await
    }

    /// Pauses the whole channel for so long from now. Of several pauses the one that ends last holds.
    pub fn throttle(&self, after: Duration) {
        self.pause.set(after);
    }

    /// How long the channel is paused yet; `None` when it is not.
    pub fn paused(&self) -> Option<Duration> {
        self.pause.left().max(self.resting().then_some(RESTING))
    }

    /// The quota of the channel, of which a share may hold here.
    pub fn quota(&self) -> &Quota {
        &self.quota
    }

    /// Lets nothing through from now on, until [`Limits::allow`].
    pub fn rest(&self) {
        self.leave.end();
        *self.share.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether nothing is let through for want of a share of the quota.
    pub fn resting(&self) -> bool {
        !self.leave.stands()
    }

    /// Lets a share of the quota through until `until`, and nothing after that. A share that differs from the one before
    /// begins with nothing saved up, so that a window in which the two meet sees no more than the larger of them.
    pub fn allow(&self, share: &Quota, until: Instant) {
        let mut held = self.share.lock().unwrap_or_else(PoisonError::into_inner);
        // leave that ran out without a word is no reason to begin anew with a full bucket either
        let anew = held.as_ref() != Some(share) || self.resting();
        if anew {
            if let Some(rate) = &self.rate {
                rate.set(share);
            }
            if let (Some(places), Some(most)) = (&self.in_flight, share.in_flight) {
                places.set(most);
            }
            *held = Some(share.clone());
        }
        self.leave.until(until);
    }

    /// Pushes a second that are let through in the long run; `None` when nothing limits them.
    pub fn rate(&self) -> Option<f64> {
        let held = self.share.lock().unwrap_or_else(PoisonError::into_inner);
        let share = held.as_ref().unwrap_or(&self.quota);
        let second = share.per_second.map(|n| f64::from(n.get()));
        let minute = share.per_minute.map(|n| f64::from(n.get()) / 60.0);
        [second, minute].into_iter().flatten().reduce(f64::min)
    }

    async fn in_turn(&self, most: Duration) -> Result<Permit, Wait> {
        let until = after(most);
        // a place first: what is taken of a rate is gone, a place comes back
        self.pause.wait(until).await?;
        let _in_flight = match &self.in_flight {
            Some(places) => Some(places.take(until, most).await?),
            None => None,
        };
        loop {
            self.pause.wait(until).await?;
            if let Some(rate) = &self.rate {
                rate.take(until).await?;
            }
            // the leave may have ended while this one waited for its turn
            self.leave.ask()?;
            // and the provider may have asked for a pause
            if self.pause.left().is_none() {
                return Ok(Permit { _in_flight, waited: true });
            }
        }
    }
}

/// The instant `most` from now, a day at most.
fn after(most: Duration) -> Instant {
    Instant::now() + most.min(Duration::from_secs(24 * 60 * 60))
}

#[cfg(test)]
mod tests;
