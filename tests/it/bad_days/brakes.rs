use std::time::Duration;

use super::stage::{Stage, Wanted};
use crate::DAY;

fn night<'a>(verb: &'a str, zone: Option<&'a str>) -> Vec<&'a str> {
    let whole = ["night", verb, "--campaign", "nightly", "--day", DAY];
    zone.map_or_else(|| whole.to_vec(), |zone| [&whole[..], &["--zone", zone]].concat())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_night_paused_under_load_goes_on_where_it_was() {
    let mut stage = Stage::new(Wanted::default()).await;
    stage.cast(2, 2).await;
    stage.pushed(300).await;
    stage.fleet.command(&night("pause", None)).await.expect(0);
    let settled = stage.quiet(Duration::from_secs(3)).await;
    assert!(
        u64::try_from(settled).unwrap() < stage.due - stage.silent,
        "the night was over before the pause"
    );
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(stage.receiver.count(), settled, "pushes of a paused night");
    stage.fleet.healthy(Duration::from_secs(5)).await;
    stage.fleet.command(&night("resume", None)).await.expect(0);
    stage.whole(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_zone_paused_and_another_aborted_are_told_apart() {
    let mut stage = Stage::new(Wanted::default()).await;
    stage.cast(1, 2).await;
    stage.pushed(300).await;
    stage.fleet.command(&night("pause", Some("Asia/Tokyo"))).await.expect(0);
    stage.fleet.command(&night("abort", Some("Asia/Seoul"))).await.expect(0);
    stage.quiet(Duration::from_secs(3)).await;
    stage.fleet.command(&night("resume", Some("Asia/Tokyo"))).await.expect(0);
    let (due, silent) = (stage.due, stage.silent);
    let shown = stage.proved(0).await;
    let count = |term: &str| shown[term].as_u64().unwrap();
    assert!(count("aborted") > 0 && count("aborted") < due / 2, "{shown}");
    assert_eq!(shown["reasons"]["operator"], shown["aborted"], "{shown}");
    assert_eq!(count("delivered") + count("suppressed") + count("aborted"), due, "{shown}");
    assert!(count("suppressed") <= silent && count("delivered") > due / 2 - silent, "{shown}");
}
