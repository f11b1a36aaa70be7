//! What is old does not hold up what is due, and what is over is not gone through again and again.

use chrono::TimeDelta;
use job_queue::{DeadLetter, DeadReason};
use night_ledger::Class;

use crate::{
    DAILY,
    log::Log,
    rig::{Rig, at, campaign, uids, user},
    sorted,
};

/// After ten days down tonight goes out first; the days between are counted bit by bit.
#[tokio::test]
async fn days_of_downtime_do_not_hold_up_tonight() {
    let zones = ["Europe/Berlin", "Asia/Kathmandu", "UTC"];
    let people = (0u64..).zip(zones.iter().cycle()).take(30).map(|(u, zone)| user(u, zone));
    let mut rig = Rig::new(campaign(DAILY, 0), 2).await;
    rig.put(people, at("2026-05-10T10:00:00Z")).await;
    rig.tick(at("2026-05-10T10:00:00Z")).await;
    let mut rig = rig.restart(2, 2).await;
    // ten nights of three zones each are missed, as is tonight's in Kathmandu; Berlin's deadline is over too
    let now = at("2026-05-20T22:00:05Z");
    let ticked = rig.tick(now).await;
    assert_eq!(ticked.published, 2, "one batch a shard");
    assert_eq!(
        sorted(rig.take(2).await.iter().flat_map(|b| &b.entries).map(|e| e.uid.0).collect()),
        [2, 5, 8, 11, 14, 17, 20, 23, 26, 29]
    );
    assert!(ticked.behind && ticked.next == Some(now), "{ticked:?}");
    assert!(
        ticked.closed.missed > 0 && ticked.closed.missed <= 160,
        "at most 16 entries of ten users: {ticked:?}"
    );
    let mut missed = ticked.closed.missed;
    for _ in 0..32 {
        let ticked = rig.tick(now).await;
        missed += ticked.closed.missed;
        if !ticked.behind {
            break;
        }
    }
    // the nights of the 10th to the 19th, and of the 20th all but UTC's
    assert_eq!(missed, 10 * 30 + 20);
    assert_eq!(rig.directory.pages_read(), 1, "the users are loaded once, and not for each entry");
}

/// A cron line that is changed in the evening: who had their push keeps it, and the old line is not gone into again.
#[tokio::test]
async fn zones_that_were_sealed_at_another_hour_are_done() {
    let mut rig = Rig::new(campaign(DAILY, 0), 4).await;
    rig.put((0..60).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    assert_eq!(uids(&rig.sweep("2026-05-10T21:50:00Z", "2026-05-10T22:00:10Z", 10).await).len(), 60);
    let mut rig = rig.restart_with(vec![campaign("0 21 * * *", 0)], 4, 2).await;
    let log = Log::start();
    let got = rig.sweep("2026-05-10T22:30:00Z", "2026-05-10T22:32:00Z", 1).await;
    assert_eq!(uids(&got), [] as [u64; 0]);
    assert_eq!(log.count("sealed at another instant"), 1);
    assert_eq!(rig.sums("20260510").await.due, 60);
    // yesterday's 21:00 was over before this line was first seen
    assert_eq!(rig.ledger.nights().await.unwrap(), [rig.night("20260510")]);
    let got = rig.sweep("2026-05-11T20:50:00Z", "2026-05-11T21:00:10Z", 10).await;
    assert_eq!(uids(&got).len(), 60, "the new hour holds from the next night on");
}

/// A scheduler without a campaign closes what is left of its nights, and publishes nothing of them.
#[tokio::test]
async fn nights_of_other_campaigns_are_closed_and_never_published() {
    let named = |name: &str| domain::Campaign { name: name.parse().unwrap(), ..campaign(DAILY, 60) };
    let mut rig = Rig::with(vec![named("mine"), named("other")], 2, Default::default()).await;
    rig.put((0..60).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    let before = rig.sweep("2026-05-10T21:50:00Z", "2026-05-10T22:00:20Z", 1).await;
    let other = domain::Night { campaign: "other".parse().unwrap(), day: "20260510".parse().unwrap() };
    let published = before.iter().filter(|g| g.batch.campaign == other.campaign);
    let published = published.map(|g| g.batch.entries.len()).sum::<usize>();
    assert!(published > 0 && published < 60, "{published}");

    let mut rig = rig.restart_with(vec![named("mine")], 2, 2).await;
    rig.tick(at("2026-05-10T22:00:21Z")).await;
    assert_eq!(rig.scheduler.last_deadline(), Some(at("2026-05-11T00:00:00Z")));
    rig.take(rig.queue.depth(&"stub".parse().unwrap()).await.unwrap().ready).await;
    let after = rig.sweep("2026-05-10T22:00:22Z", "2026-05-10T22:01:10Z", 1).await;
    assert!(after.iter().all(|g| g.batch.campaign == "mine".parse().unwrap()));
    let ticked = rig.tick(at("2026-05-10T22:02:00Z")).await;
    assert!(!ticked.publishing, "what is another's is not waited for");
    rig.tick(at("2026-05-11T00:02:00Z")).await;
    let sums = rig.sums_of(&other).await;
    let published = u64::try_from(published).unwrap();
    assert_eq!((sums.due, sums.open), (60, 0));
    assert_eq!((sums.class(Class::Expired), sums.class(Class::Missed)), (published, 60 - published));
    assert_eq!(rig.scheduler.last_deadline(), None);
}

/// Dead letters are kept for 14 days, as nights are.
#[tokio::test]
async fn old_dead_letters_are_forgotten() {
    let mut rig = Rig::new(campaign(DAILY, 60), 1).await;
    let now = at("2026-05-20T12:00:00Z");
    for days in [15, 13] {
        let at = now - TimeDelta::days(days);
        let letter = DeadLetter::new("stub".parse().unwrap(), DeadReason::Attempts, "", at, vec![1]);
        rig.queue.bury(letter).await.unwrap();
    }
    rig.tick(now).await;
    let began = std::time::Instant::now();
    let kept = loop {
        // the first time is within a quarter of an hour, and beside the ticks
        rig.tick(now + TimeDelta::minutes(15)).await;
        tokio::task::yield_now().await;
        let kept = rig.queue.dead(None, 10).await.unwrap();
        if kept.len() < 2 {
            break kept;
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(20));
    };
    assert_eq!(kept.iter().map(|(_, l)| l.at).collect::<Vec<_>>(), [now - TimeDelta::days(13)]);
}
