use std::{num::NonZeroU32, time::Duration};

use governor::{
    DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};
use plumbing::http::ApiError;

use crate::{Settings, caller::Caller};

/// Callers kept in mind; beyond them those that have not called for long are forgotten.
const MOST_CALLERS: usize = 200_000;
/// The most items of one request: a burst must let them through.
const BURST: u32 = 10_000;

/// How many items each caller may send.
pub(crate) struct Throttle {
    keys: DefaultKeyedRateLimiter<String>,
    users: DefaultKeyedRateLimiter<String>,
    clock: DefaultClock,
}

impl Throttle {
    pub(crate) fn new(settings: &Settings) -> Self {
        let burst = NonZeroU32::new(BURST).unwrap_or(NonZeroU32::MIN);
        let per_second = settings.key_items_per_second;
        Self {
            keys: RateLimiter::keyed(Quota::per_second(per_second).allow_burst(burst.max(per_second))),
            users: RateLimiter::keyed(Quota::per_minute(settings.user_items_per_minute)),
            clock: DefaultClock::default(),
        }
    }

    /// Takes so many items off what a caller may send, or says when they may come again.
    pub(crate) fn take(&self, caller: &Caller, items: usize) -> Result<(), ApiError> {
        let Some(items) = u32::try_from(items).ok().and_then(NonZeroU32::new) else { return Ok(()) };
        let (limiter, name) = match caller {
            Caller::Key { id, .. } => (&self.keys, id),
            Caller::User { id, .. } => (&self.users, id),
        };
        if limiter.len() > MOST_CALLERS {
            limiter.retain_recent();
            limiter.shrink_to_fit();
        }
        match limiter.check_key_n(name, items) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(until)) => Err(ApiError::throttled(until.wait_time_from(self.clock.now()))),
            // more than ever fit
            Err(_) => Err(ApiError::throttled(Duration::from_secs(60))),
        }
    }
}
