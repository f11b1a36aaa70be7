use axum::http::StatusCode;
use chrono::TimeDelta;
use directory::Scope;
use serde_json::{Value, json};

use crate::rig::{Rig, TOKYO, walked};

const AT: &str = "2026-06-07T20:00:00+09:00";

fn of(uid: impl Into<Value>, id: &str) -> Value {
    json!({ "uid": uid.into(), "at": AT, "steps": 5, "source": "phone", "id": id })
}

/// C42 of the cases of trouble: the uid in a body is not the caller.
#[tokio::test]
async fn c42_a_token_is_good_for_its_own_user_alone() {
    let rig = Rig::new().await;
    let token = rig.token("1001", TimeDelta::hours(1));
    let items = [
        of(1_001, "a"),
        of(1_002, "b"),
        of("1001", "c"),
        of(999_999, "d"),
        of(1_001.5, "e"),
        of("01001x", "f"),
    ];
    let answers = rig.post_as(&token, &items).await;
    // one who is there and one who is not are refused alike
    assert_eq!(
        answers,
        ["stored 5", "not_yours uid", "stored 10", "not_yours uid", "malformed uid", "malformed uid"]
    );
    assert_eq!((rig.number(1_002, "20260607").await, rig.number(1_001, "20260607").await), (None, Some(10)));
    let mut told = Vec::new();
    for uid in ["1002", "999999"] {
        for (method, path) in [
            ("GET", format!("/v1/users/{uid}/steps?day=20260607")),
            ("GET", format!("/v1/users/{uid}")),
            ("PATCH", format!("/v1/users/{uid}")),
            ("DELETE", format!("/v1/users/{uid}/devices/push")),
        ] {
            let (status, body) = rig.ask(method, &path, &token, "{\"address\":\"a\"}").await;
            told.push((status, body["error"].clone(), body["message"].clone()));
        }
    }
    assert!(told.iter().all(|one| one == &told[0]) && told[0].0 == StatusCode::FORBIDDEN, "{told:?}");
}

#[tokio::test]
async fn c42_who_shows_nothing_sound_is_not_let_in() {
    let rig = Rig::new().await;
    let item = json!([walked(AT, 5, "a")]).to_string();
    let expired = rig.token("1001", TimeDelta::seconds(-1));
    let (good, other) = (rig.token("1001", TimeDelta::hours(1)), rig.token("1002", TimeDelta::hours(1)));
    let swapped = format!("{}.{}", good.rsplit_once('.').unwrap().0, other.rsplit_once('.').unwrap().1);
    let wrong = format!("{}x", rig.key);
    let named = rig.token("no uid", TimeDelta::hours(1));
    for bearer in ["", "x", expired.as_str(), &swapped, &wrong, "sck1.0123456789abcdef.x", &named] {
        let (status, told) = rig.ask("POST", "/v1/reports", bearer, &item).await;
        assert_eq!((status, &told["error"]), (StatusCode::UNAUTHORIZED, &"unauthorized".into()), "{bearer}");
    }
    assert_eq!(rig.number(TOKYO, "20260607").await, None);
}

/// A token of somebody who was erased names nobody any more.
#[tokio::test]
async fn c42_the_token_of_an_erased_user_stores_nothing() {
    let rig = Rig::new().await;
    let token = rig.token("1001", TimeDelta::hours(1));
    assert_eq!(rig.post_as(&token, &[of(1_001, "a")]).await, ["stored 5"]);
    let (status, _) = rig.ask("DELETE", "/v1/users/1001", &rig.key, "").await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    assert_eq!(rig.post_as(&token, &[of(1_001, "b")]).await, ["unknown_user uid"]);
}

#[tokio::test]
async fn a_key_is_good_for_its_scopes() {
    let rig = Rig::new().await;
    let item = json!([walked(AT, 5, "a")]).to_string();
    for (scope, reports, steps, user) in [
        (Scope::Reports, 200, 200, 403),
        (Scope::Directory, 403, 403, 200),
        (Scope::Boards, 403, 200, 403),
        (Scope::Ops, 403, 403, 403),
    ] {
        let key = rig.key_for(scope).await;
        // a key that was made a moment ago is known after some milliseconds
        let status = async |method: &str, path: &str, body: &str| loop {
            let (status, _) = rig.ask(method, path, &key, body).await;
            if status != StatusCode::UNAUTHORIZED {
                return status.as_u16();
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(status("POST", "/v1/reports", &item).await, reports, "{scope}");
        assert_eq!(status("GET", "/v1/users/1001/steps?day=20260607", "").await, steps, "{scope}");
        assert_eq!(status("GET", "/v1/users/1001", "").await, user, "{scope}");
    }
}

#[tokio::test]
async fn a_key_that_is_revoked_is_refused_soon() {
    let rig = Rig::new().await;
    let id = rig.key.split('.').nth(1).unwrap();
    assert!(rig.post(&[]).await.is_empty());
    assert!(rig.keys.revoke(id).await.unwrap() && !rig.keys.revoke(id).await.unwrap());
    let start = std::time::Instant::now();
    while rig.ask("POST", "/v1/reports", &rig.key, "[]").await.0 != StatusCode::UNAUTHORIZED {
        assert!(start.elapsed() < std::time::Duration::from_secs(30), "it is still let in");
        tokio::task::yield_now().await;
    }
}
