//! What an operator stops before it is sealed, and one run for a system's cron.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

use night_ledger::{Brake, Class};
use plumbing::Clock;
use scheduler::{Once, once};
use tokio_util::sync::CancellationToken;

use crate::{
    DAILY,
    rig::{Rig, at, campaign, uids, user},
    shared::Shared,
    sorted,
};

#[tokio::test]
async fn who_is_in_an_aborted_zone_is_sealed_as_closed() {
    let mut rig = Rig::new(campaign(DAILY, 60), 2).await;
    let zone = |u| if u % 3 == 0 { "Europe/Paris" } else { "Europe/Berlin" };
    rig.put((0..60).map(|u| user(u, zone(u))), at("2026-05-10T10:00:00Z")).await;
    let night = rig.night("20260510");
    rig.ledger.set_brake(&night, Some("Europe/Paris".parse().unwrap()), Some(Brake::Aborted)).await.unwrap();
    rig.ledger.set_brake(&night, None, Some(Brake::Paused)).await.unwrap();
    let got = rig.sweep("2026-05-10T19:50:00Z", "2026-05-10T20:01:10Z", 10).await;
    assert_eq!(sorted(uids(&got)), (0..60).filter(|u| u % 3 != 0).collect::<Vec<_>>());
    let sums = rig.sums("20260510").await;
    assert_eq!((sums.due, sums.class(Class::Aborted), sums.open), (60, 20, 40));
    let by_zone = rig.ledger.sums(&night).await.unwrap().lines;
    let mut aborted = BTreeMap::new();
    for ((zone, ..), line) in by_zone {
        *aborted.entry(zone.name()).or_insert(0) += line.class(Class::Aborted);
    }
    assert_eq!(aborted, BTreeMap::from([("Europe/Berlin", 0), ("Europe/Paris", 20)]));
}

#[tokio::test]
async fn one_run_publishes_what_has_fired_and_waits_out_the_window() {
    let rig = Rig::new(campaign(DAILY, 2), 4).await;
    rig.put((0..60).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    let clock = Clock::system();
    let run = async |now: &str, owner| {
        clock.move_to(at(now));
        let shared = Arc::new(Shared::over(Arc::clone(&rig.ledger)));
        let scheduler = rig.beside(&shared, 4, owner, std::time::Duration::from_secs(3));
        let end = once(scheduler, &clock, CancellationToken::new()).await.unwrap();
        assert!(shared.holders().is_empty(), "it gives its shards up");
        assert_eq!(shared.forgets.load(Ordering::SeqCst), 1, "what is old is forgotten at the end");
        end
    };
    // what is ahead is the next run's
    assert_eq!(run("2026-05-10T21:59:00Z", 1).await, Once { whole: true, ..Once::default() });
    let end = run("2026-05-10T22:00:00Z", 2).await;
    assert!(end.whole && !end.missed() && end.sealed == 60, "{end:?}");
    assert!(clock.now() >= at("2026-05-10T22:00:01Z"));
    let got = rig.take(end.published).await;
    assert_eq!(got.iter().map(|b| b.entries.len()).sum::<usize>(), 60);
    // another run has nothing to do, and one a day later finds that nobody ran at its hour
    let end = run("2026-05-10T22:00:10Z", 3).await;
    assert_eq!((end.sealed, end.published, end.missed()), (0, 0, false));
    let end = run("2026-05-12T02:00:00Z", 4).await;
    assert!(end.whole && end.missed() && end.closed.missed == 60, "{end:?}");
    let stopped = CancellationToken::new();
    stopped.cancel();
    let shared = Arc::new(Shared::over(Arc::clone(&rig.ledger)));
    let scheduler = rig.beside(&shared, 4, 5, std::time::Duration::from_secs(3));
    assert_eq!(once(scheduler, &clock, stopped).await.unwrap(), Once::default());
}
