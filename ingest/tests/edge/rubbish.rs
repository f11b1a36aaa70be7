//! Kind 7 of the cases of trouble: what comes over HTTP.

use std::io::Write;

use axum::{
    body::Body,
    http::{Request, StatusCode, header},
};
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};

use crate::rig::{Rig, TOKYO, walked};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::best());
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

/// Who shows nothing is refused before anything of the body is read; who does finds the bound where the body has unpacked to it.
#[tokio::test]
async fn c41_a_compressed_bomb_is_refused() {
    let rig = Rig::new().await;
    let bomb = gzip(&vec![b' '; 128 << 20]);
    let request = || Request::post("/v1/reports").header(header::CONTENT_ENCODING, "gzip");
    let unread = Body::from_stream(futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let (status, ..) = rig.send(request().body(unread).unwrap()).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let keyed = || request().header(header::AUTHORIZATION, format!("Bearer {}", rig.key));
    let many = (0..8).map(|_| rig.send(keyed().body(Body::from(bomb.clone())).unwrap()));
    for (status, ..) in futures_util::future::join_all(many).await {
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    }
    let items = json!([walked("2026-06-07T20:00:00+09:00", 5, "a")]).to_string();
    let (status, told, _) = rig.send(keyed().body(Body::from(gzip(items.as_bytes()))).unwrap()).await;
    assert_eq!((status, &told["stored"]), (StatusCode::OK, &1.into()), "{told}");
}

#[tokio::test]
async fn c44_a_bad_item_is_answered_in_its_place_and_sinks_nothing() {
    let rig = Rig::new().await;
    let at = "2026-06-07T20:00:00+09:00";
    let mut items: Vec<Value> = (0..100).map(|n| walked(at, 1, &format!("i{n}"))).collect();
    items[57]["uid"] = 999_999.into();
    items[80]["at"] = "2026-02-30T20:00:00+09:00".into();
    items[81]["steps"] = "12x".into();
    items[82] = items[3].clone();
    items[83] = Value::Null;
    let answers = rig.post(&items).await;
    assert_eq!((answers[57].as_str(), answers[80].as_str()), ("unknown_user uid", "malformed at"));
    assert_eq!((answers[81].as_str(), answers[83].as_str()), ("malformed steps", "malformed item"));
    assert!(answers[82].starts_with("repeat"), "{}", answers[82]);
    assert_eq!(answers.iter().filter(|answer| answer.starts_with("stored")).count(), 95);
    assert_eq!(rig.number(TOKYO, "20260607").await, Some(95));
    assert!(rig.post(&[]).await.is_empty());
    // 10,001 are too many, whatever they are
    let many = format!("[{}null]", "null,".repeat(10_000));
    let (status, told) = rig.ask("POST", "/v1/reports", &rig.key, &many).await;
    assert_eq!((status, &told["error"]), (StatusCode::PAYLOAD_TOO_LARGE, &"too_many_items".into()));
    for bad in ["", "{}", "[", "[01001]", "null", "\u{0}"] {
        let (status, told) = rig.ask("POST", "/v1/reports", &rig.key, bad).await;
        assert_eq!((status, &told["error"]), (StatusCode::BAD_REQUEST, &"bad_json".into()), "{bad:?}");
    }
}

#[tokio::test]
async fn lines_are_items_too_and_one_that_is_no_json_is_its_own_fault() {
    let rig = Rig::new().await;
    let (one, two) =
        (walked("2026-06-07T20:00:00+09:00", 5, "a"), walked("2026-06-07T20:00:00+09:00", 6, "b"));
    let request = Request::post("/v1/reports")
        .header(header::AUTHORIZATION, format!("Bearer {}", rig.key))
        .header(header::CONTENT_TYPE, "application/x-ndjson; charset=utf-8");
    let (status, told, _) =
        rig.send(request.body(Body::from(format!("{one}\n\nnonsense\n{two}"))).unwrap()).await;
    assert_eq!(status, StatusCode::OK);
    let statuses: Vec<_> =
        told["results"].as_array().unwrap().iter().map(|r| r["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["stored", "refused", "stored"]);
}

#[tokio::test]
async fn a_caller_past_its_rate_is_told_when_to_come_again() {
    let rig = Rig::with(|settings| settings.user_items_per_minute = 10.try_into().unwrap()).await;
    let token = rig.token(&TOKYO.to_string(), chrono::TimeDelta::hours(1));
    // a phone that was away for days
    let items: Vec<_> =
        (0..10_000).map(|n| walked("2026-06-07T20:00:00+09:00", 1, &format!("{n}"))).collect();
    assert_eq!(rig.post_as(&token, &items).await.last().unwrap(), "stored 10000");
    let request = Request::post("/v1/reports").header(header::AUTHORIZATION, format!("Bearer {token}"));
    let body = Value::from(items[..2].to_vec()).to_string();
    let (status, _, after) = rig.send(request.body(Body::from(body)).unwrap()).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert!(after.is_some_and(|seconds| (1..=60).contains(&seconds)), "{after:?}");
    // another caller is not held up
    assert_eq!(rig.post(&[walked("2026-06-07T20:00:00+09:00", 1, "k")]).await, ["stored 10001"]);
}

/// Who is not let in is told so before the body is read, whatever is asked for.
#[tokio::test]
async fn c41_nobody_is_let_in_by_a_body() {
    let rig = Rig::new().await;
    for (method, path) in [
        ("POST", "/v1/reports"),
        ("PUT", "/v1/users/1001"),
        ("PATCH", "/v1/users/1001"),
        ("PUT", "/v1/users/1001/devices/push"),
        ("DELETE", "/v1/users/1001/devices/push"),
    ] {
        let unread = Body::from_stream(futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>());
        let (status, ..) = rig.send(Request::builder().method(method).uri(path).body(unread).unwrap()).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{method} {path}");
    }
}

/// The rig holds each answer to the form of errors.
#[tokio::test]
async fn what_no_route_takes_is_answered_in_the_same_form() {
    let rig = Rig::new().await;
    for (method, path, body, wanted) in [
        ("GET", "/nowhere", "", 404),
        ("DELETE", "/v1/reports", "", 405),
        ("POST", "/v1/users/1001", "", 405),
        ("GET", "/v1/users/%ff", "", 400),
        ("GET", "/v1/users/1001/steps?day=1&day=2", "", 400),
        ("GET", "/v1/users/1001/steps?day=%ff", "", 400),
    ] {
        let (status, _) = rig.ask(method, path, &rig.key, body).await;
        assert_eq!(status.as_u16(), wanted, "{method} {path}");
    }
    let large = " ".repeat(300 << 10);
    assert_eq!(rig.ask("PUT", "/v1/users/1001", &rig.key, &large).await.0, StatusCode::PAYLOAD_TOO_LARGE);
}
