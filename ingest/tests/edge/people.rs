use axum::http::StatusCode;
use chrono::TimeDelta;
use domain::Uid;
use serde_json::json;

use crate::rig::{Rig, TOKYO, walked};

#[tokio::test]
async fn a_user_is_made_read_changed_and_erased() {
    let rig = Rig::new().await;
    let body = r#"{"zone":"Europe/Berlin","language":"de","name":"Ada","devices":[{"channel":"stub","address":"a"}]}"#;
    let (status, made) = rig.ask("PUT", "/v1/users/5000", &rig.key, body).await;
    assert_eq!(
        (status, &made["zone"], &made["consent"]),
        (StatusCode::CREATED, &"Europe/Berlin".into(), &true.into())
    );
    assert_eq!(rig.ask("PUT", "/v1/users/5000", &rig.key, body).await.0, StatusCode::OK);
    let (status, changed) = rig.ask("PATCH", "/v1/users/5000", &rig.key, r#"{"name":"Ada L."}"#).await;
    assert_eq!(
        (status, &changed["name"], &changed["language"]),
        (StatusCode::OK, &"Ada L.".into(), &"de".into())
    );
    let (_, read) = rig.ask("GET", "/v1/users/5000", &rig.key, "").await;
    assert_eq!(read, changed);
    let (status, with) = rig.ask("PUT", "/v1/users/5000/devices/stub", &rig.key, r#"{"address":"b"}"#).await;
    assert_eq!((status, with["devices"].as_array().unwrap().len()), (StatusCode::OK, 2));
    for (address, wanted) in
        [("b", StatusCode::NO_CONTENT), ("b", StatusCode::NOT_FOUND), ("a", StatusCode::NO_CONTENT)]
    {
        let body = json!({ "address": address }).to_string();
        let (status, _) = rig.ask("DELETE", "/v1/users/5000/devices/stub", &rig.key, &body).await;
        assert_eq!(status, wanted, "{address}");
    }
    for _ in 0..2 {
        assert_eq!(rig.ask("DELETE", "/v1/users/5000", &rig.key, "").await.0, StatusCode::NO_CONTENT);
    }
    assert_eq!(rig.ask("GET", "/v1/users/5000", &rig.key, "").await.0, StatusCode::NOT_FOUND);
    assert_eq!(rig.ask("PATCH", "/v1/users/5000", &rig.key, "{}").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_is_wrong_is_told_by_its_field_and_changes_nothing() {
    let rig = Rig::new().await;
    for (body, named) in [
        (r#"{"zone":"Mars/Phobos"}"#, "zone"),
        (r#"{"zone":7}"#, "zone"),
        ("{}", "zone"),
        (r#"{"zone":"UTC","zoned":1}"#, "zoned"),
        (r#"{"zone":"UTC","consent_at":"yesterday"}"#, "consent_at"),
        (r#"{"zone":"UTC","devices":[{"channel":"stub","address":""}]}"#, "devices[0].address"),
        (r#"{"zone":"UTC","devices":[{"channel":"A B","address":"x"}]}"#, "devices[0].channel"),
        ("not json", "the body"),
        (r#"{"zone":"UTC"} and more"#, "the body"),
        (r#"["UTC",null,null,null,null,null,null]"#, "the body"),
        (r#"{"zone":"UTC","devices":[["stub","a"]]}"#, "devices[0]"),
        ("null", "the body"),
        ("", "the body"),
    ] {
        let (status, told) = rig.ask("PUT", "/v1/users/6000", &rig.key, body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        assert!(told["message"].as_str().unwrap().contains(named), "{told}");
    }
    assert_eq!(rig.ask("GET", "/v1/users/6000", &rig.key, "").await.0, StatusCode::NOT_FOUND);
    for path in ["/v1/users/x", "/v1/users/-1", "/v1/users/1.0", "/v1/users/18446744073709551616"] {
        assert_eq!(rig.ask("GET", path, &rig.key, "").await.0, StatusCode::BAD_REQUEST, "{path}");
    }
}

#[tokio::test]
async fn a_user_opts_out_and_in_by_their_own_token_and_changes_nothing_else() {
    let rig = Rig::new().await;
    let token = rig.token("1001", TimeDelta::hours(1));
    for consent in [false, true] {
        let body = json!({ "consent": consent }).to_string();
        let (status, told) = rig.ask("PATCH", "/v1/users/1001", &token, &body).await;
        assert_eq!((status, &told["consent"]), (StatusCode::OK, &consent.into()), "{told}");
    }
    let (status, _) = rig.ask("PATCH", "/v1/users/1001", &token, r#"{"consent":true,"zone":"UTC"}"#).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert_eq!(rig.ask("PUT", "/v1/users/1001", &token, r#"{"zone":"UTC"}"#).await.0, StatusCode::FORBIDDEN);
    assert_eq!(rig.ask("DELETE", "/v1/users/1001", &token, "").await.0, StatusCode::FORBIDDEN);
    let (status, told) = rig.ask("PUT", "/v1/users/1001/devices/push", &token, r#"{"address":"tok"}"#).await;
    assert_eq!((status, &told["devices"][0]["address"]), (StatusCode::OK, &"tok".into()));
}

/// Erasure leaves nothing in the directory or in the step store, and nothing comes back by a report that was under way.
#[tokio::test]
async fn an_erased_user_leaves_nothing() {
    let rig = Rig::new().await;
    rig.post(&[walked("2026-06-07T20:00:00+09:00", 500, "a")]).await;
    rig.at("2026-06-08T12:00:00Z").await;
    rig.post(&[walked("2026-06-08T20:00:00+09:00", 600, "b")]).await;
    assert_eq!(
        rig.ask("DELETE", &format!("/v1/users/{TOKYO}"), &rig.key, "").await.0,
        StatusCode::NO_CONTENT
    );
    for day in ["20260607", "20260608"] {
        assert_eq!(rig.steps.entry(Uid(TOKYO), day.parse().unwrap()).await.unwrap(), None);
    }
    assert!(rig.directory.users(&[Uid(TOKYO)]).await.unwrap()[0].is_none());
    assert_eq!(rig.post(&[walked("2026-06-08T20:00:00+09:00", 600, "c")]).await, ["unknown_user uid"]);
    // made anew within the minute, the store still refuses what may be of the one before
    rig.ask("PUT", &format!("/v1/users/{TOKYO}"), &rig.key, r#"{"zone":"Asia/Tokyo"}"#).await;
    assert_eq!(rig.post(&[walked("2026-06-08T20:00:00+09:00", 600, "d")]).await, ["unknown_user"]);
}
