//! Kind 2 of the cases of trouble: dates and step counts.

use axum::http::StatusCode;
use domain::Uid;
use serde_json::json;

use crate::rig::{Rig, TOKYO, total, walked};

/// By the rule of the largest source, in both cases: what two sources saw of one walk is not told from two walks.
#[tokio::test]
async fn c08_phone_and_watch_are_not_added_up() {
    let rig = Rig::new().await;
    let (phone, watch) = (
        total("phone", "2026-06-07T20:00:00+09:00", 5_766),
        total("watch", "2026-06-07T20:30:00+09:00", 7_639),
    );
    assert_eq!(rig.post(&[phone, watch]).await, ["stored 5766", "stored 7639"]);
    assert_eq!(rig.number(TOKYO, "20260607").await, Some(7_639));
    let (watch, phone) = (
        total("watch", "2026-06-06T12:00:00+09:00", 4_157),
        total("phone", "2026-06-06T19:00:00+09:00", 10_000),
    );
    rig.at("2026-06-06T11:00:00Z").await;
    assert_eq!(rig.post(&[watch, phone]).await, ["stored 4157", "stored 10000"]);
    assert_eq!(rig.number(TOKYO, "20260606").await, Some(10_000));
    let (_, told) = rig.ask("GET", &format!("/v1/users/{TOKYO}/steps?day=20260606"), &rig.key, "").await;
    let sources = json!([
        { "source": "watch", "kind": "totals", "total": 4_157, "jumped": false },
        { "source": "phone", "kind": "totals", "total": 10_000, "jumped": false },
    ]);
    assert_eq!(told["sources"], sources);
}

#[tokio::test]
async fn c09_a_counter_that_restarts_lowers_nothing_and_a_jump_is_marked() {
    let rig = Rig::new().await;
    let at = "2026-06-07T20:00:00+09:00";
    let totals = [8_000, 8_350, 12, 40].map(|steps| total("phone", at, steps));
    assert_eq!(rig.post(&totals).await, ["stored 8000", "stored 8350", "repeat 8350", "repeat 8350"]);
    assert_eq!(
        rig.post(&[total("phone", at, -8_314), walked(at, -8_314, "n")]).await,
        ["malformed total", "malformed steps"]
    );
    let jump = [
        total("watch", "2026-06-07T20:00:00+09:00", 3_500),
        total("watch", "2026-06-07T20:10:00+09:00", 30_000),
    ];
    assert_eq!(rig.post(&jump).await, ["stored 8350", "stored 30000"]);
    let (_, told) = rig.ask("GET", &format!("/v1/users/{TOKYO}/steps?day=20260607"), &rig.key, "").await;
    assert_eq!(
        (&told["sources"][0]["jumped"], &told["sources"][1]["jumped"]),
        (&false.into(), &true.into()),
        "{told}"
    );
}

#[tokio::test]
async fn c10_wide_numbers_are_exact_and_absurd_ones_refused() {
    let rig = Rig::new().await;
    let at = "2026-06-07T20:00:00+09:00";
    for (steps, wanted) in [
        ("65535", "stored 65535"),
        ("65536", "stored 65536"),
        ("79396", "stored 79396"),
        ("200000", "stored 200000"),
    ] {
        let steps: u64 = steps.parse().unwrap();
        assert_eq!(rig.post(&[total("phone", at, steps)]).await, [wanted]);
        assert_eq!(rig.number(TOKYO, "20260607").await, Some(steps));
    }
    for absurd in
        ["200001", "536876864", "4294967295", "4294967296", "9007199254740993", "9223372036854775808"]
    {
        let both = format!(
            r#"[{{"uid":{TOKYO},"at":"{at}","total":{absurd},"source":"phone"}},{{"uid":1004,"at":"{at}","steps":{absurd},"source":"phone","id":"{absurd}"}}]"#
        );
        let (status, told) = rig.ask("POST", "/v1/reports", &rig.key, &both).await;
        assert_eq!(status, StatusCode::OK, "{told}");
        for result in told["results"].as_array().unwrap() {
            assert_eq!(
                (&result["status"], &result["reason"]),
                (&"refused".into(), &"too_many".into()),
                "{absurd}"
            );
        }
    }
    assert_eq!(
        (rig.number(TOKYO, "20260607").await, rig.number(1_004, "20260607").await),
        (Some(200_000), None)
    );
}

/// A phone that was away for days, and one whose clock is days ahead. Until there is an archive, what is frozen is too late.
#[tokio::test]
async fn c12_each_day_of_a_late_batch_is_answered_for_itself() {
    let rig = Rig::new().await;
    // 07:00 in Tokyo
    rig.at("2026-06-07T22:00:00Z").await;
    let day =
        |day: u32, steps: u32| walked(&format!("2026-06-{day:02}T06:00:00+09:00"), steps, &format!("d{day}"));
    let answers = rig.post(&[day(4, 3_000), day(5, 4_000), day(6, 5_000), day(7, 6_000), day(8, 200)]).await;
    assert_eq!(answers, ["too_late", "too_late", "too_late", "too_late", "stored 200"]);
    assert_eq!(rig.post(&[day(9, 1), day(10, 1)]).await, ["future", "future"]);
    assert_eq!((rig.number(TOKYO, "20260608").await, rig.number(TOKYO, "20260609").await), (Some(200), None));
    // a phone that is a minute fast, a minute before midnight
    rig.at("2026-06-08T14:59:00Z").await;
    assert_eq!(rig.post(&[walked("2026-06-09T00:00:10+09:00", 5, "fast")]).await, ["stored 5"]);
    assert_eq!(rig.number(TOKYO, "20260609").await, Some(5));
}

#[tokio::test]
async fn c14_an_upload_that_comes_twice_counts_once() {
    let rig = Rig::new().await;
    let one = walked("2026-06-07T20:00:00+09:00", 500, "R1");
    assert_eq!(rig.post(std::slice::from_ref(&one)).await, ["stored 500"]);
    assert_eq!(rig.post(std::slice::from_ref(&one)).await, ["repeat 500"]);
    let more = [one.clone(), walked("2026-06-07T20:01:00+09:00", 20, "R2")];
    assert_eq!(rig.post(&more).await, ["repeat 500", "stored 520"]);
    let mut bare = one.clone();
    bare.as_object_mut().unwrap().remove("id");
    assert_eq!(rig.post(&[bare]).await, ["id_missing id"]);
    let new = [walked("2026-06-07T20:02:00+09:00", 7, "R3")];
    let (a, b) = tokio::join!(rig.post(&new), rig.post(&new));
    let mut both = [a, b].concat();
    both.sort_unstable();
    assert_eq!(both, ["repeat 527", "stored 527"]);
    let entry = rig.steps.entry(Uid(TOKYO), "20260607".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(entry.number(), 527);
}
