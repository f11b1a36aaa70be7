use std::{num::NonZeroU32, time::Duration};

use futures_util::future::join_all;
use proptest::prelude::*;
use tokio::time::{Instant, advance, sleep};

use super::*;

const LONG: Duration = Duration::from_secs(24 * 60 * 60);

fn quota(per_second: u32, per_minute: u32, in_flight: u32) -> Quota {
    let [per_second, per_minute, in_flight] = [per_second, per_minute, in_flight].map(NonZeroU32::new);
    Quota { per_second, per_minute, in_flight }
}

/// The instants at which `n` pushes that all want out at once are let through, since the first.
async fn let_through(limits: &Limits, n: usize) -> Vec<Duration> {
    let start = Instant::now();
    let push = async || {
        let _permit = limits.acquire(LONG).await.unwrap();
        start.elapsed()
    };
    join_all((0..n).map(|_| push())).await
}

/// The most that any window of that length saw.
fn most_in(window: Duration, instants: &[Duration]) -> usize {
    let mut sorted = instants.to_vec();
    sorted.sort();
    let seen = |first: &Duration| sorted.iter().filter(|i| *i >= first && **i < *first + window).count();
    sorted.iter().map(seen).max().unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn without_a_quota_nothing_waits() {
    let limits = Limits::new(&Quota::default(), 100);
    assert!(let_through(&limits, 10_000).await.iter().all(Duration::is_zero));
}

#[tokio::test(start_paused = true)]
async fn no_second_sees_more_than_the_quota_and_little_is_wasted() {
    for per_second in [1, 2, 7, 40, 100, 1000] {
        let limits = Limits::new(&quota(per_second, 0, 0), 100);
        let n = usize::try_from(per_second).unwrap() * 10;
        let instants = let_through(&limits, n).await;
        let most = most_in(Duration::from_secs(1), &instants);
        assert!(most <= usize::try_from(per_second).unwrap(), "{per_second}: {most}");
        let took = instants.iter().max().unwrap().as_secs_f64();
        assert!(took < 10.0 * 1.06, "{per_second}: {took}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_minute_sees_more_than_the_quota() {
    for (per_second, per_minute) in [(0, 90), (10, 90), (2, 120), (3, 1000)] {
        let limits = Limits::new(&quota(per_second, per_minute, 0), 100);
        let n = usize::try_from(per_minute).unwrap() * 3;
        let instants = let_through(&limits, n).await;
        let most = most_in(Duration::from_secs(60), &instants);
        assert!(most <= usize::try_from(per_minute).unwrap(), "{per_second} {per_minute}: {most}");
        if per_second > 0 {
            let most = most_in(Duration::from_secs(1), &instants);
            assert!(most <= usize::try_from(per_second).unwrap(), "{per_second} {per_minute}: {most}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_night_of_gaps_does_not_save_up_a_burst() {
    let limits = Limits::new(&quota(100, 600, 0), 10);
    let start = Instant::now();
    let mut instants = Vec::new();
    for gap in [0, 3, 70, 1, 59, 200] {
        advance(Duration::from_secs(gap)).await;
        for _ in 0..400 {
            drop(limits.acquire(LONG).await.unwrap());
            instants.push(start.elapsed());
        }
    }
    assert!(most_in(Duration::from_secs(1), &instants) <= 100);
    assert!(most_in(Duration::from_secs(60), &instants) <= 600);
}

#[tokio::test(start_paused = true)]
async fn who_would_wait_too_long_is_told_how_long() {
    let limits = Limits::new(&quota(1, 0, 0), 100);
    drop(limits.acquire(Duration::ZERO).await.unwrap());
    assert_eq!(limits.acquire(Duration::ZERO).await.err(), Some(Wait(Duration::from_secs(1))));
    advance(Duration::from_millis(400)).await;
    assert_eq!(
        limits.acquire(Duration::from_millis(500)).await.err(),
        Some(Wait(Duration::from_millis(600)))
    );
    assert!(limits.acquire(Duration::from_millis(700)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_long_queue_is_refused_at_its_end_at_once() {
    let limits = Limits::new(&quota(10, 0, 0), 100);
    let start = Instant::now();
    let push = async || (limits.acquire(Duration::from_secs(2)).await.is_ok(), start.elapsed());
    let answers = join_all((0..100).map(|_| push())).await;
    let let_out = answers.iter().filter(|(out, _)| *out).count();
    // the first at once, then one every 100 ms up to 2 s; a timer may end a millisecond late
    assert!((20..=21).contains(&let_out), "{let_out}");
    let at_once = answers.iter().filter(|(out, at)| !out && at.is_zero()).count();
    assert!(at_once >= 78, "{at_once}");
}

#[tokio::test(start_paused = true)]
async fn giving_up_leaves_the_queue() {
    let limits = Limits::new(&quota(1, 0, 0), 100);
    drop(limits.acquire(LONG).await.unwrap());
    for _ in 0..50 {
        let abandoned = tokio::time::timeout(Duration::from_millis(1), limits.acquire(LONG)).await;
        assert!(abandoned.is_err());
    }
    assert!(limits.acquire(Duration::from_secs(2)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn places_in_flight_come_back_when_dropped() {
    let limits = Limits::new(&quota(0, 0, 2), 100);
    let first = limits.acquire(Duration::ZERO).await.unwrap();
    let second = limits.acquire(Duration::ZERO).await.unwrap();
    let wait = Duration::from_millis(5);
    assert_eq!(limits.acquire(wait).await.err(), Some(Wait(wait)));
    drop(first);
    let third = limits.acquire(Duration::ZERO).await.unwrap();
    drop((second, third));
    let _both =
        [limits.acquire(Duration::ZERO).await.unwrap(), limits.acquire(Duration::ZERO).await.unwrap()];
}

#[tokio::test(start_paused = true)]
async fn never_more_in_flight_than_the_quota() {
    let limits = Limits::new(&quota(0, 0, 7), 100);
    let flying = std::cell::Cell::new(0);
    let most = std::cell::Cell::new(0);
    let push = async || {
        let _permit = limits.acquire(LONG).await.unwrap();
        flying.set(flying.get() + 1);
        most.set(most.get().max(flying.get()));
        sleep(Duration::from_millis(20)).await;
        flying.set(flying.get() - 1);
    };
    join_all((0..100).map(|_| push())).await;
    assert_eq!((most.get(), flying.get()), (7, 0));
}

#[tokio::test(start_paused = true)]
async fn a_throttled_channel_pauses_as_a_whole() {
    for quota in [Quota::default(), quota(1000, 0, 0), quota(0, 0, 5)] {
        let limits = Limits::new(&quota, 100);
        assert_eq!(limits.paused(), None);
        limits.throttle(Duration::from_secs(120));
        limits.throttle(Duration::from_secs(30));
        assert_eq!(limits.paused(), Some(Duration::from_secs(120)));
        let refused = limits.acquire(Duration::from_secs(119)).await.err();
        assert_eq!(refused, Some(Wait(Duration::from_secs(120))));
        let instants = let_through(&limits, 50).await;
        assert!(instants.iter().all(|i| *i >= Duration::from_secs(120)), "{instants:?}");
        assert_eq!(limits.paused(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_reaches_those_who_wait_already() {
    let limits = Limits::new(&quota(10, 0, 0), 100);
    let throttle = async {
        sleep(Duration::from_millis(250)).await;
        limits.throttle(Duration::from_secs(60));
    };
    let (instants, ()) = tokio::join!(let_through(&limits, 20), throttle);
    let before = instants.iter().filter(|i| **i <= Duration::from_millis(250)).count();
    let after = instants.iter().filter(|i| **i >= Duration::from_millis(60_250)).count();
    assert!((1..=3).contains(&before) && before + after == 20, "{instants:?}");
}

#[tokio::test(start_paused = true)]
async fn absurd_waits_do_not_overflow() {
    let limits = Limits::new(&quota(u32::MAX, u32::MAX, u32::MAX), usize::MAX);
    assert!(limits.acquire(Duration::MAX).await.is_ok());
    limits.throttle(Duration::MAX);
    assert!(limits.acquire(Duration::MAX).await.is_err());
    assert!(Limits::new(&quota(1, 1, 1), 0).acquire(Duration::ZERO).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_share_that_changes_holds_for_those_who_wait_too() {
    let limits = Limits::new(&quota(1_000, 0, 0), 100);
    limits.allow(&quota(1, 0, 0), Instant::now() + LONG);
    let raise = async {
        sleep(Duration::from_millis(500)).await;
        limits.allow(&quota(1_000, 0, 0), Instant::now() + LONG);
    };
    let (instants, ()) = tokio::join!(let_through(&limits, 100), raise);
    let last = instants.iter().max().unwrap();
    assert!(instants.iter().all(|i| *i > Duration::from_millis(500)), "one a second begins after a second");
    assert!(*last < Duration::from_millis(700), "who waited for the second goes on at once: {last:?}");
}

#[tokio::test(start_paused = true)]
async fn leave_ends_by_itself_and_nothing_is_saved_up_meanwhile() {
    let limits = Limits::new(&quota(10, 0, 0), 100);
    assert!(!limits.resting());
    limits.rest();
    assert!(limits.resting() && limits.paused().is_some());
    assert!(limits.acquire(LONG).await.is_err());
    limits.allow(&quota(10, 0, 0), Instant::now() + Duration::from_secs(5));
    assert!(limits.acquire(Duration::ZERO).await.is_err(), "it begins empty");
    assert!(limits.acquire(Duration::from_secs(1)).await.is_ok());
    advance(Duration::from_secs(5)).await;
    assert!(limits.resting() && limits.acquire(LONG).await.is_err());
    assert_eq!(Limits::new(&quota(5, 60, 0), 10).rate(), Some(1.0));
    assert_eq!(Limits::new(&quota(0, 0, 5), 10).rate(), None);
}

#[tokio::test(start_paused = true)]
async fn places_that_are_taken_off_do_not_come_back() {
    let limits = Limits::new(&quota(0, 0, 4), 100);
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(limits.acquire(Duration::ZERO).await.unwrap());
    }
    limits.allow(&quota(0, 0, 2), Instant::now() + LONG);
    for _ in 0..2 {
        held.pop();
        assert!(limits.acquire(Duration::ZERO).await.is_err(), "two are out, and two is all there are");
    }
    held.pop();
    let last = limits.acquire(Duration::ZERO).await.unwrap();
    limits.allow(&quota(0, 0, 1), Instant::now() + LONG);
    limits.allow(&quota(0, 0, 4), Instant::now() + LONG);
    held.push(last);
    for _ in 0..2 {
        held.push(limits.acquire(Duration::ZERO).await.unwrap());
    }
    assert_eq!(held.len(), 4);
    assert!(limits.acquire(Duration::ZERO).await.is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the quota and whenever pushes come, no window sees more than it.
    #[test]
    fn no_window_sees_more(
        per_second in 1u32..60, per_minute in 1u32..400, chunk in 1usize..50,
        gaps in proptest::collection::vec(0u64..3_000, 1..150),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let instants = runtime.block_on(async {
            let limits = Limits::new(&quota(per_second, per_minute, 0), chunk);
            let start = Instant::now();
            let mut instants = Vec::new();
            for gap in gaps {
                // half of them come in a row
                sleep(Duration::from_millis(if gap < 1_500 { 0 } else { gap })).await;
                drop(limits.acquire(LONG).await.unwrap());
                instants.push(start.elapsed());
            }
            instants
        });
        prop_assert!(most_in(Duration::from_secs(1), &instants) <= usize::try_from(per_second).unwrap());
        prop_assert!(most_in(Duration::from_secs(60), &instants) <= usize::try_from(per_minute).unwrap());
    }
}
