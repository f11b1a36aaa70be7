use std::{
    hash::Hash,
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::http::StatusCode;
use governor::{
    DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};
use plumbing::http::ApiError;

use crate::{Settings, caller::Caller};

/// Callers of a kind kept in mind at most, some 50 MB; those who have had their pause are forgotten then.
const MOST_CALLERS: usize = 1 << 20;
/// Between two looks for those who may be forgotten.
const EVERY: Duration = Duration::from_secs(1);
/// The most items of one request: a burst must let them through.
const BURST: NonZeroU32 = NonZeroU32::new(10_000).unwrap();

/// How many items each caller may send.
pub(crate) struct Throttle {
    keys: Kept<String>,
    users: Kept<u64>,
}

/// The callers of a kind.
struct Kept<K: Clone + Eq + Hash> {
    limiter: DefaultKeyedRateLimiter<K>,
    looked: Mutex<Option<Instant>>,
    most: usize,
}

impl Throttle {
    pub(crate) fn new(settings: &Settings) -> Self {
        let (second, minute) = (settings.key_items_per_second, settings.user_items_per_minute);
        Self {
            keys: Kept::new(Quota::per_second(second).allow_burst(BURST.max(second)), MOST_CALLERS),
            users: Kept::new(Quota::per_minute(minute).allow_burst(BURST.max(minute)), MOST_CALLERS),
        }
    }

    /// Takes so many items off what a caller may send, or says when they may come again.
    pub(crate) fn take(&self, caller: &Caller, items: usize) -> Result<(), ApiError> {
        let Some(items) = u32::try_from(items).ok().and_then(NonZeroU32::new) else { return Ok(()) };
        match caller {
            Caller::Key { id, .. } => self.keys.take(id, items),
            Caller::User { uid, .. } => self.users.take(&uid.0, items),
        }
    }
}

impl<K: Clone + Eq + Hash> Kept<K> {
    fn new(quota: Quota, most: usize) -> Self {
        Self { limiter: RateLimiter::keyed(quota), looked: Mutex::default(), most }
    }

    fn take(&self, key: &K, items: NonZeroU32) -> Result<(), ApiError> {
        if !self.has_room() {
            return Err(ApiError::busy(EVERY));
        }
        match self.limiter.check_key_n(key, items) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(until)) => Err(ApiError::throttled(until.wait_time_from(DefaultClock::default().now()))),
            // a burst has room for any request that was let so far
            Err(_) => {
                let message = "more items than this caller may ever send at once";
                Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_many_items", message))
            }
        }
    }

    /// Whether one more caller may be kept in mind. Where there are as many as may be, those who have had their pause are
    /// forgotten, and not for each request anew.
    fn has_room(&self) -> bool {
        if self.limiter.len() < self.most {
            return true;
        }
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.is_none_or(|at| at.elapsed() >= EVERY) {
            self.limiter.retain_recent();
            self.limiter.shrink_to_fit();
            *looked = Some(Instant::now());
        }
        self.limiter.len() < self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(per_second: u32) -> Kept<u64> {
        Kept::new(Quota::per_second(NonZeroU32::new(per_second).unwrap()).allow_burst(BURST), 100)
    }

    #[test]
    fn callers_in_mind_are_bounded_and_those_who_paused_make_room() {
        let slow = kept(1);
        (0..100).for_each(|uid| slow.take(&uid, BURST).unwrap());
        assert_eq!(slow.take(&100, NonZeroU32::MIN).unwrap_err().status(), 503);
        let quick = kept(u32::MAX);
        (0..1_000).for_each(|uid| {
            *quick.looked.lock().unwrap() = None;
            quick.take(&uid, NonZeroU32::MIN).unwrap();
        });
    }

    #[test]
    fn a_whole_batch_goes_through_and_more_waits_for_its_time() {
        let slow = kept(1);
        slow.take(&1, BURST).unwrap();
        assert_eq!(slow.take(&1, NonZeroU32::MIN).unwrap_err().status(), 429);
        slow.take(&2, BURST).unwrap();
        assert_eq!(slow.take(&3, BURST.saturating_add(1)).unwrap_err().status(), 413);
    }
}
