use std::{
    num::NonZeroU32,
    sync::{
        Mutex as Lock, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use governor::{
    RateLimiter,
    clock::Clock,
    middleware::NoOpMiddleware,
    nanos::Nanos,
    state::{InMemoryState, NotKeyed},
};
use tokio::{
    sync::{Mutex, Notify},
    time::{Instant, sleep, timeout_at},
};

use super::Wait;
use crate::channel::Quota;

/// Pushes a second and a minute. Whoever finds none left queues for one turnstile, so that thousands that wait cost one
/// timer that matters and come up in the order they came.
#[derive(Debug)]
pub(super) struct Rate {
    clock: TokioClock,
    chunk: usize,
    buckets: Lock<Buckets>,
    turnstile: Mutex<()>,
    waiting: AtomicU32,
    /// Wakes the one in the turnstile when the buckets are others.
    changed: Notify,
}

#[derive(Debug)]
struct Buckets {
    second: Option<Bucket>,
    minute: Option<Bucket>,
    shortest: Duration,
    longest: Duration,
}

type Bucket = RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Nanos>>;

impl Rate {
    /// The rates of a quota, `None` when it has none.
    pub(super) fn new(quota: &Quota, chunk: usize) -> Option<Self> {
        let clock = TokioClock { start: Instant::now() };
        let buckets = Buckets::new(quota, chunk, clock, false)?;
        let (turnstile, waiting) = (Mutex::new(()), AtomicU32::new(0));
        Some(Self { clock, chunk, buckets: Lock::new(buckets), turnstile, waiting, changed: Notify::new() })
    }

    /// Goes on at other rates, with nothing saved up. A quota without rates changes nothing.
    pub(super) fn set(&self, quota: &Quota) {
        if let Some(buckets) = Buckets::new(quota, self.chunk, self.clock, true) {
            *self.buckets() = buckets;
            self.changed.notify_one();
        }
    }

    /// Takes one push of both, waiting until `until` at most.
    pub(super) async fn take(&self, until: Instant) -> Result<(), Wait> {
        let queued = Queued::behind(&self.waiting);
        let (shortest, longest) = self.gaps();
        // each of those in front takes a push, and none comes sooner than the faster bucket fills
        if shortest.saturating_mul(queued.ahead) > until.saturating_duration_since(Instant::now()) {
            return Err(Wait(longest.saturating_mul(queued.ahead)));
        }
        let turn = match self.turnstile.try_lock() {
            Ok(turn) => turn,
            Err(_) => timeout_at(until, self.turnstile.lock())
                .await
                .map_err(|_| Wait(longest.saturating_mul(queued.ahead)))?,
        };
        while let Err(wait) = self.try_take() {
            if wait > until.saturating_duration_since(Instant::now()) {
                return Err(Wait(wait));
            }
            tokio::select! {
                () = sleep(wait) => {}
                () = self.changed.notified() => {}
            }
        }
        drop(turn);
        Ok(())
    }

    /// The second goes first: when the minute then refuses, what is lost of the second was not what was short, while a
    /// push of the minute is never taken for nothing.
    fn try_take(&self) -> Result<(), Duration> {
        let buckets = self.buckets();
        for bucket in [&buckets.second, &buckets.minute].into_iter().flatten() {
            bucket.check().map_err(|refused| refused.wait_time_from(self.clock.now()))?;
        }
        Ok(())
    }

    fn gaps(&self) -> (Duration, Duration) {
        let buckets = self.buckets();
        (buckets.shortest, buckets.longest)
    }

    fn buckets(&self) -> std::sync::MutexGuard<'_, Buckets> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buckets {
    fn new(quota: &Quota, chunk: usize, clock: TokioClock, empty: bool) -> Option<Self> {
        let second = quota.per_second.map(|most| bounded(most, Duration::from_secs(1), chunk));
        let minute = quota.per_minute.map(|most| bounded(most, Duration::from_secs(60), chunk));
        let gaps = || [second, minute].into_iter().flatten().map(|q| q.replenish_interval());
        let (shortest, longest) = (gaps().min()?, gaps().max()?);
        let bucket = |quota: governor::Quota| {
            let bucket = RateLimiter::direct_with_clock(quota, clock);
            if empty {
                // all that is in it, so it is never refused
                let _ = bucket.check_n(quota.burst_size());
            }
            bucket
        };
        Some(Self { second: second.map(bucket), minute: minute.map(bucket), shortest, longest })
    }
}

/// A token bucket that lets at most `most` through in any window, wherever that begins. A bucket of `burst` that fills
/// by one every `window / rate` lets at most `burst + rate - 1` through in a window that is open at one end; so the
/// burst is taken off the rate. A small burst makes up for a timer that is a millisecond or two late, and costs little.
fn bounded(most: NonZeroU32, window: Duration, chunk: usize) -> governor::Quota {
    // rounded up: the bursts of the parts of a quota together are not less than that of the whole, see `Limits::allow`
    let slack = if most.get() < 40 { 1 } else { most.get().div_ceil(50).max(2) };
    let burst = slack.min(u32::try_from(chunk).unwrap_or(u32::MAX)).max(1);
    let rate = most.get().saturating_sub(burst - 1).max(1);
    // rounded up, or a window could see one more
    let gap =
        Duration::from_nanos(u64::try_from(window.as_nanos()).unwrap_or(u64::MAX).div_ceil(rate.into()));
    let quota =
        governor::Quota::with_period(gap).unwrap_or_else(|| governor::Quota::per_second(NonZeroU32::MIN));
    quota.allow_burst(NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN))
}

/// A place in the queue, given up when dropped.
struct Queued<'a> {
    waiting: &'a AtomicU32,
    ahead: u32,
}

impl<'a> Queued<'a> {
    fn behind(waiting: &'a AtomicU32) -> Self {
        Self { waiting, ahead: waiting.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Governor on the runtime's monotonic clock: what it says and what `sleep` does are one time.
#[derive(Clone, Copy, Debug)]
struct TokioClock {
    start: Instant,
}

impl Clock for TokioClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.start.elapsed().into()
    }
}
