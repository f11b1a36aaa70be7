use axum::http::StatusCode;

use crate::rig::{Rig, TOKYO, walked};

/// Both days are open around midnight, and an event counts on the one that it is in.
#[tokio::test]
async fn the_window_around_midnight() {
    let rig = Rig::new().await;
    // 23:57:59 in Tokyo: tomorrow is not open yet
    rig.at("2026-06-07T14:57:59Z").await;
    let early = walked("2026-06-08T00:00:01+09:00", 5, "a");
    assert_eq!(rig.post(std::slice::from_ref(&early)).await, ["future"]);
    rig.at("2026-06-07T14:58:00Z").await;
    assert_eq!(rig.post(&[early]).await, ["stored 5"]);
    // 00:04:59
    rig.at("2026-06-07T15:04:59Z").await;
    let last = |id: &str| walked("2026-06-07T23:59:59.999+09:00", 7, id);
    assert_eq!(rig.post(&[last("b")]).await, ["stored 7"]);
    rig.at("2026-06-07T15:05:00Z").await;
    assert_eq!(rig.post(&[last("c"), last("b")]).await, ["too_late", "repeat 7"]);
    assert_eq!(
        (rig.number(TOKYO, "20260607").await, rig.number(TOKYO, "20260608").await),
        (Some(7), Some(5))
    );
    let (_, told) = rig.ask("GET", &format!("/v1/users/{TOKYO}/steps?day=20260607"), &rig.key, "").await;
    assert_eq!(told["frozen"], true, "{told}");
}

/// What is older than any id that the store knows is too late, also before anything was ever frozen here.
#[tokio::test]
async fn what_is_long_frozen_is_too_late_whatever_its_id() {
    let rig = Rig::new().await;
    for (day, wanted) in [("2024-02-29", "too_late"), ("2026-06-04", "too_late"), ("2026-06-07", "stored 3")]
    {
        assert_eq!(rig.post(&[walked(&format!("{day}T12:00:00+09:00"), 3, day)]).await, [wanted], "{day}");
    }
    assert_eq!(rig.number(TOKYO, "20240229").await, None);
}

/// Each zone freezes for itself.
#[tokio::test]
async fn a_zone_that_freezes_leaves_the_others_open() {
    let rig = Rig::new().await;
    rig.at("2026-06-07T15:06:00Z").await;
    // 3 is in Lima, where it is 10:06 of the 7th
    let mut lima = walked("2026-06-07T10:00:00-05:00", 9, "a");
    lima["uid"] = 3.into();
    assert_eq!(
        rig.post(&[walked("2026-06-07T23:00:00+09:00", 1, "b"), lima]).await,
        ["too_late", "stored 9"]
    );
}

/// Who moves keeps the day that has begun; the new zone holds from the next day start of the old one.
#[tokio::test]
async fn a_user_who_moves_has_no_event_in_two_days_or_in_none() {
    let rig = Rig::new().await;
    rig.at("2026-06-07T14:00:00Z").await;
    let (status, _) =
        rig.ask("PATCH", &format!("/v1/users/{TOKYO}"), &rig.key, r#"{"zone":"America/Lima"}"#).await;
    assert_eq!(status, StatusCode::OK);
    // Tokyo's 7th goes on until 15:00Z; then it is 10:00 of the 7th in Lima, and all of the time to Lima's next midnight and
    // the day after is the 8th
    assert_eq!(rig.post(&[walked("2026-06-07T14:30:00Z", 1, "a")]).await, ["stored 1"]);
    rig.at("2026-06-07T16:00:00Z").await;
    assert_eq!(rig.post(&[walked("2026-06-07T15:30:00Z", 2, "b")]).await, ["stored 2"]);
    rig.at("2026-06-08T12:00:00Z").await;
    assert_eq!(rig.post(&[walked("2026-06-08T11:00:00Z", 4, "c")]).await, ["stored 6"]);
    assert_eq!(
        (rig.number(TOKYO, "20260607").await, rig.number(TOKYO, "20260608").await),
        (Some(1), Some(6))
    );
}

#[tokio::test]
async fn steps_are_asked_for_by_a_day() {
    let rig = Rig::new().await;
    for (query, named) in [("", "day"), ("?day=2026", "day"), ("?day=20260230", "day")] {
        let (status, told) = rig.ask("GET", &format!("/v1/users/{TOKYO}/steps{query}"), &rig.key, "").await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
        assert!(told["message"].as_str().unwrap().contains(named), "{told}");
    }
    let (status, _) = rig.ask("GET", "/v1/users/999999/steps?day=20260607", &rig.key, "").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}
