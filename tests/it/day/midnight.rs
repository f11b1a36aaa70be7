use chrono::{DateTime, TimeDelta, Utc};
use rig::{Item, MOST, Monitor, RedisServer, ReportAnswer, Walked, until};

use super::stage::{Paced, offset, stores};

/// A quarter of a minute before midnight in Tokyo.
const BEFORE: &str = "2026-06-07T14:59:45Z";
const RATE: u32 = 10;
/// Somebody in Tokyo: see `ZONES`.
const WALKER: u64 = 3;

/// At midnight another key is read, and that is all: no key of the step store is written until somebody reports.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn midnight_itself_writes_nothing_and_both_days_are_open_around_it() {
    let redis = RedisServer::start(&[]).await;
    let stage = Paced::new(&stores(&[redis.url()], false, "wal"), BEFORE, RATE, 9).await;
    let midnight: DateTime<Utc> = "2026-06-07T15:00:00Z".parse().unwrap();
    let [seventh, eighth] = [7, 8].map(|day| chrono::NaiveDate::from_ymd_opt(2026, 6, day).unwrap());
    assert_eq!(
        stage.gateway.post(&[item(midnight - TimeDelta::minutes(1), 500, 1)]).await,
        [ReportAnswer::Stored]
    );
    assert_eq!(stage.gateway.steps(WALKER, seventh).await, Some(500));

    let monitor = Monitor::begin(&redis.address()).await;
    shows(&stage, midnight + TimeDelta::seconds(30)).await;
    let read = (stage.gateway.steps(WALKER, seventh).await, stage.gateway.steps(WALKER, eighth).await);
    assert_eq!(read, (Some(500), None), "the new day is read as absent, and is not made");
    let writes = monitor.writes("{s.").await;
    // the publisher's own: it takes its leases, and the posting of the report before may still be under way
    let of_the_feed = |write: &str| ["lease", ":outbox\"", ":feed\""].iter().any(|of| write.contains(of));
    let written: Vec<_> = writes.iter().filter(|write| !of_the_feed(write)).collect();
    assert!(written.is_empty(), "midnight wrote: {written:?}");

    // both days are open: what was walked before midnight counts on the day that is over, and on no other
    let late = item(midnight - TimeDelta::seconds(20), 40, 2);
    let early = item(midnight + TimeDelta::seconds(20), 7, 3);
    assert_eq!(stage.gateway.post(&[late, early]).await, [ReportAnswer::Stored, ReportAnswer::Stored]);
    let read = (stage.gateway.steps(WALKER, seventh).await, stage.gateway.steps(WALKER, eighth).await);
    assert_eq!(read, (Some(540), Some(7)));

    shows(&stage, midnight + TimeDelta::minutes(5) + TimeDelta::seconds(20)).await;
    let frozen =
        [item(midnight - TimeDelta::seconds(10), 60, 4), item(midnight - TimeDelta::seconds(20), 40, 2)];
    let answers = stage.gateway.post(&frozen).await;
    let too_late = ReportAnswer::Refused("too_late".to_owned());
    assert_eq!(answers, [too_late, ReportAnswer::Repeat], "after the freeze a known id is still a repeat");
    let read = (stage.gateway.steps(WALKER, seventh).await, stage.gateway.steps(WALKER, eighth).await);
    assert_eq!(read, (Some(540), Some(7)));
}

/// Waits until the daemon's clock is past `at`.
async fn shows(stage: &Paced, at: DateTime<Utc>) {
    until("the clock", MOST, async || (stage.now() > at).then_some(())).await;
}

fn item(at: DateTime<Utc>, steps: u32, id: u64) -> Item {
    let at = at.with_timezone(&offset(WALKER));
    Item { uid: WALKER, at, source: "phone", walked: Walked::Steps(steps), id }
}
