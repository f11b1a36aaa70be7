use rig::Site;
use serde_json::Value;

async fn fires(zone: &str, day: &str) -> Value {
    let site = Site::new("");
    let args = ["zones", "audit", "--campaign", "nightly", "--zone", zone, "--from", day, "--json"];
    site.command(&args).await.expect(0).json()["fires"].clone()
}

#[tokio::test]
async fn this_years_rules_hold() {
    // Easter Island puts its clocks forward at 22:00 on 5 September: that hour is not there, and 23:00 is 04:00Z
    assert_eq!(fires("Pacific/Easter", "20260905").await, "2026-09-06T04:00:00Z");
    // Vancouver stays on summer time from 2026 on: 22:00 is 05:00Z in December too
    assert_eq!(fires("America/Vancouver", "20261215").await, "2026-12-16T05:00:00Z");
    assert_eq!(fires("Asia/Tokyo", "20260607").await, "2026-06-07T13:00:00Z");
}

#[tokio::test]
async fn every_zone_fires_once_a_day_for_400_days() {
    let site = Site::new("");
    let args = ["zones", "audit", "--campaign", "nightly", "--from", "20260101", "--days", "400"];
    let done = site.command(&args).await.expect(0);
    let rows = done.stdout.lines().count();
    let zones = rows / 400;
    assert!(rows % 400 == 0 && zones > 400, "{rows} rows");
    assert!(done.stderr.contains("0 fault(s)"), "{}", done.stderr);
}
