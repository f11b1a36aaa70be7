use std::io::Write;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, StatusCode, header},
};
use flate2::{Compression, write::GzEncoder};
use futures_util::stream;

use super::*;

const MOST: usize = 1 << 20;

async fn read(encoding: &[&'static str], body: impl Into<Body>) -> Result<Vec<u8>, StatusCode> {
    let mut headers = HeaderMap::new();
    for name in encoding {
        headers.append(header::CONTENT_ENCODING, HeaderValue::from_static(name));
    }
    let whole = read_body(&headers, body.into(), MOST, &Budget::new(64 << 20)).await;
    whole.map(|whole| whole.bytes().to_vec()).map_err(|error| error.status())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::best());
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

/// As many small pieces as a slow sender makes.
fn dripped(bytes: &[u8]) -> Body {
    let pieces: Vec<_> =
        bytes.chunks(7).map(|piece| Ok::<_, std::io::Error>(Bytes::copy_from_slice(piece))).collect();
    Body::from_stream(stream::iter(pieces))
}

#[tokio::test]
async fn a_body_comes_out_as_it_was_packed() {
    let text: Vec<u8> = (0..200_000u32).flat_map(|n| n.to_le_bytes()).collect();
    assert_eq!(read(&[], text.clone()).await.unwrap(), text);
    assert_eq!(read(&["identity"], text.clone()).await.unwrap(), text);
    for packed in [gzip(&text), [gzip(&text[..1_000]), gzip(&text[1_000..])].concat()] {
        assert_eq!(read(&["gzip"], packed.clone()).await.unwrap(), text);
        assert_eq!(read(&["GZip"], dripped(&packed)).await.unwrap(), text);
    }
    let packed = zstd::encode_all(&text[..], 3).unwrap();
    assert_eq!(read(&["zstd"], packed.clone()).await.unwrap(), text);
    assert_eq!(read(&["zstd"], dripped(&packed)).await.unwrap(), text);
    assert_eq!(read(&["zstd"], Vec::new()).await.unwrap(), b"");
}

/// Bodies that fill the room they are unpacked into to the last byte.
#[tokio::test]
async fn a_body_of_whole_pieces_comes_out_as_it_was_packed() {
    for length in [64 << 10, 128 << 10, 1 << 20] {
        let text = vec![b' '; length];
        let (zip, zipped) = (zstd::encode_all(&text[..], 3).unwrap(), gzip(&text));
        assert!(read(&["zstd"], zip).await.is_ok_and(|whole| whole == text), "{length}");
        assert!(read(&["gzip"], zipped).await.is_ok_and(|whole| whole == text), "{length}");
    }
}

/// C41 of the cases of trouble: what unpacks to far more than is taken ends where the bound is.
#[tokio::test]
async fn c41_a_bomb_is_refused_while_it_unpacks() {
    let spaces = vec![b' '; 128 << 20];
    let bomb = gzip(&spaces);
    assert!(bomb.len() < 200_000);
    assert_eq!(read(&["gzip"], bomb).await, Err(StatusCode::PAYLOAD_TOO_LARGE));
    let mut zip = zstd::Encoder::new(Vec::new(), 3).unwrap();
    for _ in 0..4 {
        zip.write_all(&spaces).unwrap();
    }
    assert_eq!(read(&["zstd"], zip.finish().unwrap()).await, Err(StatusCode::PAYLOAD_TOO_LARGE));
    assert_eq!(read(&[], dripped(&vec![b' '; MOST + 1])).await, Err(StatusCode::PAYLOAD_TOO_LARGE));
    assert_eq!(read(&[], vec![b' '; MOST]).await.unwrap().len(), MOST);
}

#[tokio::test]
async fn c41_a_packing_that_is_not_what_it_says_is_refused() {
    let good = gzip(b"[1, 2, 3]");
    for names in [&["gzip, gzip"][..], &["gzip", "gzip"], &["br"], &["gzip;q=1"]] {
        assert_eq!(read(names, good.clone()).await, Err(StatusCode::UNSUPPORTED_MEDIA_TYPE), "{names:?}");
    }
    for end in 1..good.len() {
        assert_eq!(read(&["gzip"], good[..end].to_vec()).await, Err(StatusCode::BAD_REQUEST), "{end}");
    }
    let zip = zstd::encode_all(&b"[1, 2, 3] and more of it"[..], 3).unwrap();
    for end in 1..zip.len() {
        assert_eq!(read(&["zstd"], zip[..end].to_vec()).await, Err(StatusCode::BAD_REQUEST), "{end}");
    }
    for encoding in ["gzip", "zstd"] {
        assert_eq!(read(&[encoding], &b"[1, 2, 3]"[..]).await, Err(StatusCode::BAD_REQUEST));
    }
    let broken = stream::iter([Ok(Bytes::from_static(b"[1")), Err(std::io::Error::other("cut"))]);
    assert_eq!(read(&[], Body::from_stream(broken)).await, Err(StatusCode::BAD_REQUEST));
}

/// A window of 128 MiB would be held for one body.
#[tokio::test]
async fn a_zstd_body_with_a_huge_window_is_refused() {
    let mut zip = zstd::Encoder::new(Vec::new(), 1).unwrap();
    zip.window_log(27).unwrap();
    zip.include_contentsize(false).unwrap();
    zip.write_all(b"[1, 2, 3]").unwrap();
    assert_eq!(read(&["zstd"], zip.finish().unwrap()).await, Err(StatusCode::BAD_REQUEST));
}

#[tokio::test]
async fn bodies_together_keep_within_the_budget() {
    let (budget, headers) = (Budget::new(3 << 20), HeaderMap::new());
    let one = async || read_body(&headers, Body::from(vec![b' '; MOST]), MOST, &budget).await;
    let held = [one().await.unwrap(), one().await.unwrap(), one().await.unwrap()];
    let refused = one().await.unwrap_err().into_response_parts();
    assert_eq!(refused, (StatusCode::SERVICE_UNAVAILABLE, Some("1".to_owned())));
    drop(held);
    one().await.unwrap();
}

impl ApiError {
    fn into_response_parts(self) -> (StatusCode, Option<String>) {
        let response = axum::response::IntoResponse::into_response(self);
        let after =
            response.headers().get(header::RETRY_AFTER).map(|after| after.to_str().unwrap().to_owned());
        (response.status(), after)
    }
}

#[test]
fn a_bearer_is_read_and_compared() {
    let mut headers = HeaderMap::new();
    assert_eq!(bearer(&headers), None);
    headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Basic abc"));
    assert_eq!(bearer(&headers), None);
    headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer abc"));
    assert_eq!(bearer(&headers), Some("abc"));
    assert!(same(b"abc", b"abc") && !same(b"abc", b"abd") && !same(b"abc", b"ab"));
}

/// Callers are not told where the stores are; operators are.
#[tokio::test]
async fn what_a_store_said_is_for_operators_alone() {
    let said = "redis://10.0.0.7 refused";
    for (operators, wanted) in [(false, "a store is away: try again later"), (true, said)] {
        let answer = axum::response::IntoResponse::into_response(ApiError::from(
            crate::StoreError::Unavailable(said.to_owned()),
        ));
        let answer = if operators { tell_causes(answer).await } else { answer };
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()[header::RETRY_AFTER]),
            (503, &"1".parse().unwrap())
        );
        let body = axum::body::to_bytes(answer.into_body(), 1_000).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert!(body["message"].as_str().unwrap().ends_with(wanted), "{body}");
        assert!(operators || !body.to_string().contains("10.0.0.7"), "{body}");
    }
}
