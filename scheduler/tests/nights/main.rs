//! Nights with stepped time over real embedded stores: when each zone fires, what is missed, what is never doubled.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails here")]

mod catching_up;
mod counting;
mod faults;
mod ledgers;
mod log;
mod owners;
mod rig;
mod several;
mod shared;
mod stopping;
mod watched;
mod windows;

use log::Log;
use night_ledger::{Class, Reason};
use rig::{Rig, at, campaign, uids, user};

const DAILY: &str = "0 22 * * *";

fn sorted(mut uids: Vec<u64>) -> Vec<u64> {
    uids.sort_unstable();
    uids
}

/// The hour does not exist: one push each, from the first instant after the gap on, spread, and none after midnight.
#[tokio::test]
async fn an_hour_in_a_gap_is_shifted_and_spread() {
    let mut rig = Rig::new(campaign(DAILY, 3_600), 2).await;
    rig.put((0..200).map(|u| user(u, "Pacific/Easter")), at("2026-09-05T00:00:00Z")).await;
    let log = Log::start();
    let got = rig.sweep("2026-09-06T03:50:00Z", "2026-09-06T05:30:00Z", 1).await;
    assert_eq!(log.count("shifted by the rule"), 1, "told when it is sealed, and not again");
    assert_eq!(sorted(uids(&got)), (0..200).collect::<Vec<_>>());
    assert!(got.iter().all(|g| g.batch.day == "20260905".parse().unwrap()));
    let (first, last) = (got.first().unwrap().at, got.last().unwrap().at);
    assert!(first >= at("2026-09-06T04:00:00Z") && last < at("2026-09-06T05:00:00Z"), "{first} {last}");
    assert!(last - first > chrono::TimeDelta::minutes(50), "spread over the window");
    // local midnight is 05:00Z, and that is the deadline
    assert!(got.iter().all(|g| g.batch.last_deadline() == Some(at("2026-09-06T05:00:00Z"))));
}

/// The hour exists twice: everybody once, at the first.
#[tokio::test]
async fn an_hour_in_a_fold_fires_once() {
    for (line, zone, from, to, day, first) in [
        (
            DAILY,
            "America/Nuuk",
            "2022-10-29T23:40:00Z",
            "2022-10-30T02:30:00Z",
            "20221029",
            "2022-10-30T00:00:00Z",
        ),
        (
            "0 23 * * *",
            "America/Santiago",
            "2026-04-05T01:40:00Z",
            "2026-04-05T04:30:00Z",
            "20260404",
            "2026-04-05T02:00:00Z",
        ),
    ] {
        let mut rig = Rig::new(campaign(line, 3_600), 2).await;
        rig.put((0..100).map(|u| user(u, zone)), at(from)).await;
        let got = rig.sweep(from, to, 60).await;
        assert_eq!(sorted(uids(&got)), (0..100).collect::<Vec<_>>(), "{zone}");
        assert!(
            got.iter().all(|g| g.batch.day == day.parse().unwrap() && g.batch.instant == at(first)),
            "{zone}"
        );
        assert!(
            got.iter().all(|g| g.at < at(first) + chrono::TimeDelta::hours(1)),
            "{zone}: the second hour adds nothing"
        );
    }
}

/// The clock leaps ahead and is set back: the night runs on the corrected clock, nobody twice.
#[tokio::test]
async fn a_clock_that_was_wrong_doubles_nothing() {
    let mut rig = Rig::new(campaign(DAILY, 3_600), 2).await;
    rig.put((0..120).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    let mut got = rig.sweep("2026-05-10T21:58:00Z", "2026-05-10T21:58:10Z", 1).await;
    assert!(got.is_empty());
    got.extend(rig.sweep("2026-05-10T23:30:00Z", "2026-05-10T23:30:20Z", 1).await);
    got.extend(rig.sweep("2026-05-10T21:59:00Z", "2026-05-10T22:59:30Z", 10).await);
    assert_eq!(sorted(uids(&got)), (0..120).collect::<Vec<_>>());

    let mut rig = Rig::new(campaign(DAILY, 3_600), 2).await;
    rig.put((0..120).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    rig.tick(at("2026-05-10T21:30:00Z")).await;
    rig.tick(at("2026-05-10T18:30:00Z")).await;
    let got = rig.sweep("2026-05-10T21:40:00Z", "2026-05-10T23:00:00Z", 10).await;
    assert_eq!(sorted(uids(&got)), (0..120).collect::<Vec<_>>());
    assert!(got.first().unwrap().at < at("2026-05-10T22:02:00Z"));
}

/// A campaign that was first seen under a clock a year ahead runs tonight all the same.
#[tokio::test]
async fn a_campaign_first_seen_in_the_future_is_not_passed_over() {
    let mut rig = Rig::new(campaign(DAILY, 60), 2).await;
    rig.put((0..60).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    rig.tick(at("2027-05-10T12:00:00Z")).await;
    let got = rig.sweep("2026-05-10T21:40:00Z", "2026-05-10T22:01:30Z", 10).await;
    assert_eq!(sorted(uids(&got)), (0..60).collect::<Vec<_>>());
}

/// Down over the hour: what is inside its deadline goes out, the rest is missed, and days before are not replayed.
#[tokio::test]
async fn what_was_missed_is_counted_and_never_sent_at_four_in_the_morning() {
    let zones = ["Europe/Berlin", "Asia/Kathmandu", "America/New_York"];
    let people = || (0u64..).zip(zones.iter().cycle()).take(90).map(|(u, zone)| user(u, zone));
    let mut rig = Rig::new(campaign(DAILY, 3_600), 2).await;
    rig.put(people(), at("2026-05-10T10:00:00Z")).await;
    rig.tick(at("2026-05-10T15:00:00Z")).await;
    let mut rig = rig.restart(2, 2).await;
    let got = rig.sweep("2026-05-11T02:20:00Z", "2026-05-11T03:10:00Z", 60).await;
    assert_eq!(sorted(uids(&got)), (0..90).filter(|u| u % 3 == 2).collect::<Vec<_>>());
    let at_once =
        got.iter().filter(|g| g.at == at("2026-05-11T02:20:00Z")).flat_map(|g| &g.batch.entries).count();
    assert!((5..15).contains(&at_once), "a third of New York's window has passed: {at_once} of 30");
    let sums = rig.sums("20260510").await;
    assert_eq!((sums.due, sums.class(Class::Missed)), (90, 60));

    // five days down: the days between are counted missed, only the current one is sent
    let mut rig = rig.restart(2, 3).await;
    let got = rig.sweep("2026-05-16T02:20:00Z", "2026-05-16T03:30:00Z", 60).await;
    assert_eq!(sorted(uids(&got)), (0..90).filter(|u| u % 3 == 2).collect::<Vec<_>>());
    assert!(got.iter().all(|g| g.batch.day == "20260515".parse().unwrap()));
    for day in ["20260511", "20260512", "20260513", "20260514"] {
        let sums = rig.sums(day).await;
        assert_eq!((sums.due, sums.class(Class::Missed)), (90, 90), "{day}");
    }
    let got = rig.sweep("2026-05-16T19:59:00Z", "2026-05-16T21:01:00Z", 60).await;
    assert_eq!(sorted(uids(&got)), (0..90).filter(|u| u % 3 == 0).collect::<Vec<_>>(), "scheduling goes on");
}

/// Offsets of half and quarter hours, and a date that never was.
#[tokio::test]
async fn odd_offsets_fire_at_their_minute() {
    let zones = [
        ("Asia/Kathmandu", "2026-05-10T16:15:00Z"),
        ("Pacific/Chatham", "2026-05-10T09:15:00Z"),
        ("Australia/Lord_Howe", "2026-05-10T11:30:00Z"),
        ("Pacific/Kiritimati", "2026-05-10T08:00:00Z"),
        ("Pacific/Pago_Pago", "2026-05-11T09:00:00Z"),
    ];
    let mut rig = Rig::new(campaign(DAILY, 0), 1).await;
    rig.put((0u64..).zip(zones).map(|(u, (zone, _))| user(u, zone)), at("2026-05-10T07:50:00Z")).await;
    let got = rig.sweep("2026-05-10T07:55:00Z", "2026-05-11T10:05:00Z", 60).await;
    for (uid, (zone, expected)) in (0u64..).zip(zones) {
        let mine: Vec<_> = got.iter().filter(|g| g.batch.entries.iter().any(|e| e.uid.0 == uid)).collect();
        let on_the_day = mine.iter().filter(|g| g.batch.day == "20260510".parse().unwrap());
        assert_eq!(on_the_day.map(|g| g.at).collect::<Vec<_>>(), [at(expected)], "{zone}");
    }

    let mut rig = Rig::new(campaign(DAILY, 0), 1).await;
    rig.put([user(1, "Pacific/Apia")], at("2011-12-29T00:00:00Z")).await;
    let got = rig.sweep("2011-12-30T06:00:00Z", "2011-12-31T12:00:00Z", 300).await;
    let fired: Vec<_> = got.iter().map(|g| (g.batch.day.to_string(), g.at)).collect();
    assert_eq!(
        fired,
        [
            ("20111229".to_owned(), at("2011-12-30T08:00:00Z")),
            ("20111231".to_owned(), at("2011-12-31T08:00:00Z"))
        ]
    );
}

/// Who is due: opted in before the hour, with a device on a channel of the campaign; the first channel in its order.
#[tokio::test]
async fn the_seal_holds_who_is_due_and_nobody_else() {
    let mut rig = Rig::new(campaign(DAILY, 60), 4).await;
    let mut late = user(2, "UTC");
    late.consent_at = Some(at("2026-05-10T22:00:01Z"));
    let mut out = user(3, "UTC");
    out.consent = Some(false);
    let mut bare = user(4, "UTC");
    bare.devices = Some(Vec::new());
    let mut elsewhere = user(5, "UTC");
    elsewhere.devices.as_mut().unwrap()[0].channel = "apns".parse().unwrap();
    rig.put([user(1, "UTC"), late, out, bare, elsewhere, user(6, "Asia/Tokyo")], at("2026-05-10T20:00:00Z"))
        .await;
    let got = rig.sweep("2026-05-10T21:50:00Z", "2026-05-10T22:01:30Z", 1).await;
    assert_eq!(uids(&got), [1]);
    let slot = i64::from(domain::slot(domain::Uid(1), 60));
    assert_eq!(got[0].at, at("2026-05-10T22:00:00Z") + chrono::TimeDelta::seconds(slot));
}

/// A move that skips the hour of a `Day` is told, and nobody gets two pushes of one `Day`.
#[tokio::test]
async fn a_move_across_the_date_line_skips_a_day_once() {
    let mut rig = Rig::new(campaign(DAILY, 0), 1).await;
    rig.put([user(1, "Pacific/Pago_Pago"), user(2, "Pacific/Kiritimati")], at("2026-05-09T12:00:00Z")).await;
    // 05-10 in Pago Pago goes on to 05-11T11:00Z; Kiritimati's hour of 05-11 is at 05-11T08:00Z
    rig.put([user(1, "Pacific/Kiritimati")], at("2026-05-11T07:00:00Z")).await;
    let got = rig.sweep("2026-05-11T07:10:00Z", "2026-05-12T12:00:00Z", 300).await;
    let mine: Vec<_> = got.iter().filter(|g| g.batch.entries.iter().any(|e| e.uid.0 == 1)).collect();
    let fired: Vec<_> = mine.iter().map(|g| (g.batch.day.to_string(), g.at)).collect();
    assert_eq!(
        fired,
        [
            ("20260510".to_owned(), at("2026-05-11T09:00:00Z")),
            ("20260512".to_owned(), at("2026-05-12T08:00:00Z"))
        ]
    );
    let sums = rig.sums("20260511").await;
    assert_eq!(sums.reasons[usize::from(Reason::ZoneMoved.code())], 1);
}

/// N is the night's own: a new one holds for nights not sealed yet, and a restart goes on at the next batch.
#[tokio::test]
async fn a_night_keeps_its_n_over_a_restart() {
    let mut rig = Rig::new(campaign(DAILY, 60), 2).await;
    rig.put((0..60).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    let mut got = rig.sweep("2026-05-10T21:50:00Z", "2026-05-10T22:00:20Z", 1).await;
    assert!(!got.is_empty());
    let mut rig = rig.restart(5, 2).await;
    got.extend(rig.sweep("2026-05-10T22:00:20Z", "2026-05-10T22:01:10Z", 1).await);
    assert_eq!(sorted(uids(&got)), (0..60).collect::<Vec<_>>(), "no batch twice, none left out");
    assert!(got.iter().all(|g| g.batch.shard.0 < 2));
    assert_eq!(rig.ledger.shard_count(&rig.night("20260510"), Rig::shards(7)).await.unwrap(), Rig::shards(2));
    let got = rig.sweep("2026-05-11T21:50:00Z", "2026-05-11T22:01:10Z", 10).await;
    assert_eq!(got.iter().map(|g| g.batch.shard.0).max(), Some(4));
    assert_eq!(uids(&got).len(), 60);
}

/// What nobody worked is expired by the close, as never worked; with the window unfinished the rest is missed.
#[tokio::test]
async fn closing_a_night_leaves_nothing_open() {
    let mut rig = Rig::new(campaign(DAILY, 60), 2).await;
    rig.put((0..60).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    rig.sweep("2026-05-10T21:50:00Z", "2026-05-10T22:00:29Z", 1).await;
    let open = rig.sums("20260510").await;
    assert_eq!((open.due, open.open), (60, 60));
    rig.tick(at("2026-05-11T00:00:00Z")).await;
    assert_eq!(rig.sums("20260510").await.open, 60, "the senders have a grace");
    let ticked = rig.tick(at("2026-05-11T00:02:00Z")).await;
    let sums = rig.sums("20260510").await;
    assert_eq!(sums.open, 0);
    assert_eq!(sums.reasons[usize::from(Reason::NeverWorked.code())], ticked.closed.never_worked);
    assert_eq!(sums.reasons[usize::from(Reason::NotPublished.code())], ticked.closed.missed);
    assert!(ticked.closed.never_worked > 10 && ticked.closed.missed > 10, "{ticked:?}");
}
