use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Instant,
};

use aws_lc_rs::hmac;
use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, Uri},
    response::Response,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{Identity, Language, Uid};
use futures_util::stream;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::oneshot,
};

use super::*;

mod http2;

const KEY: [u8; 32] = [42; 32];

fn settings(url: String) -> WebhookSettings {
    WebhookSettings {
        url,
        secret_file: None,
        secret: Some(format!("whsec_{}", STANDARD.encode(KEY)).into()),
        timeout: Span::seconds(10),
        allow_private: true,
    }
}

async fn push(webhook: &Webhook) -> Result<(), Fault> {
    let identity = Identity {
        campaign: "nightly".parse().unwrap(),
        uid: Uid(9_007_199_254_740_993),
        day: "20260607".parse().unwrap(),
    };
    let language: Language = "pt-BR".parse().unwrap();
    let deadline = "2026-06-08T03:00:00Z".parse().unwrap();
    let push = Push {
        identity: &identity,
        key: &identity.to_string(),
        address: "device-7",
        language: &language,
        title: "Hoje",
        body: "8.350 passos \"já\"",
        steps: 8350,
        deadline,
    };
    webhook.push(&push).await
}

async fn push_to(url: String) -> Result<(), Fault> {
    push(&Webhook::new(&settings(url)).unwrap()).await
}

type Seen = Arc<Mutex<Vec<(Uri, HeaderMap, Bytes)>>>;

/// A receiver that answers every request alike and keeps what it saw.
async fn receiver(answer: impl Fn() -> Response + Clone + Send + Sync + 'static) -> (SocketAddr, Seen) {
    let seen = Seen::default();
    let keep = seen.clone();
    let handler = move |request: Request| async move {
        let (parts, body) = request.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        keep.lock().unwrap().push((parts.uri, parts.headers, body));
        answer()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = axum::Router::new().fallback(handler);
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (address, seen)
}

fn answer(status: u16, header: Option<(&'static str, String)>) -> Response {
    let mut builder = Response::builder().status(status);
    if let Some((name, value)) = header {
        builder = builder.header(name, value);
    }
    builder.body(Body::from("thanks")).unwrap()
}

/// A server of one connection that handles it as told.
async fn raw<F: Future<Output = ()> + Send + 'static>(
    handle: impl FnOnce(TcpStream) -> F + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { handle(listener.accept().await.unwrap().0).await });
    address
}

#[tokio::test]
async fn a_push_says_all_and_its_signature_verifies() {
    let (address, seen) = receiver(|| answer(202, None)).await;
    let before = Utc::now().timestamp();
    assert_eq!(push_to(format!("http://{address}/in?a=b")).await, Ok(()));

    let (uri, headers, body) = seen.lock().unwrap().remove(0);
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    assert_eq!(uri, "/in?a=b");
    let id = "nightly.20260607.9007199254740993";
    let expected = serde_json::json!({
        "id": id, "campaign": "nightly", "day": "20260607", "uid": "9007199254740993", "device": "device-7",
        "language": "pt-BR", "title": "Hoje", "body": "8.350 passos \"já\"", "steps": 8350,
        "deadline": "2026-06-08T03:00:00Z",
    });
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&body).unwrap(), expected);
    assert_eq!([header("idempotency-key"), header("webhook-id")], [id, id]);
    assert_eq!(header("content-type"), "application/json");
    assert_eq!(header("user-agent"), concat!("stepcast/", env!("CARGO_PKG_VERSION")));
    let timestamp: i64 = header("webhook-timestamp").parse().unwrap();
    assert!((before..=before + 60).contains(&timestamp), "{timestamp}");

    let signed = [id.as_bytes(), b".", timestamp.to_string().as_bytes(), b".", &body].concat();
    let signature = STANDARD.decode(header("webhook-signature").strip_prefix("v1,").unwrap()).unwrap();
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, &KEY), &signed, &signature).unwrap();
}

#[tokio::test]
async fn without_a_secret_nothing_is_signed() {
    let (address, seen) = receiver(|| answer(200, None)).await;
    let webhook = Webhook::new(&WebhookSettings { secret: None, ..settings(format!("http://{address}/")) });
    assert_eq!(push(&webhook.unwrap()).await, Ok(()));
    let (_, headers, _) = seen.lock().unwrap().remove(0);
    assert!(headers.contains_key("webhook-id") && !headers.contains_key("webhook-signature"));
}

#[tokio::test]
async fn an_answer_is_judged_by_its_status() {
    for (status, expected) in [
        (200, Ok(())),
        (204, Ok(())),
        (400, Err(Fault::Refused { detail: "status 400".into() })),
        (401, Err(Fault::Stopped { detail: "status 401".into() })),
        (404, Err(Fault::Stopped { detail: "status 404".into() })),
        (408, Err(Fault::Retry { after: None, maybe: true })),
        (429, Err(Fault::Throttled { after: None })),
        (500, Err(Fault::Retry { after: None, maybe: true })),
        (503, Err(Fault::Retry { after: None, maybe: true })),
    ] {
        let (address, _) = receiver(move || answer(status, None)).await;
        assert_eq!(push_to(format!("http://{address}/")).await, expected, "{status}");
    }
}

#[tokio::test]
async fn a_gone_device_is_gone_since_the_answer() {
    let (address, _) = receiver(|| answer(410, None)).await;
    let before = Utc::now();
    let Err(Fault::DeviceGone { since }) = push_to(format!("http://{address}/")).await else { panic!() };
    assert!(before <= since && since <= Utc::now());
}

#[tokio::test]
async fn the_wait_asked_for_is_passed_on_in_both_forms() {
    let (address, _) = receiver(|| answer(429, Some(("retry-after", "7200".into())))).await;
    let after = Some(Duration::from_secs(7200));
    assert_eq!(push_to(format!("http://{address}/")).await, Err(Fault::Throttled { after }));

    let date = (Utc::now() + chrono::TimeDelta::hours(2)).format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let (address, _) = receiver(move || answer(503, Some(("retry-after", date.clone())))).await;
    let Err(Fault::Retry { after: Some(after), maybe: true }) = push_to(format!("http://{address}/")).await
    else {
        panic!()
    };
    assert!((7_100..=7_200).contains(&after.as_secs()), "{after:?}");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (elsewhere, seen) = receiver(|| answer(200, None)).await;
    for status in [301, 302, 307, 308] {
        let to = format!("http://{elsewhere}/");
        let (address, _) = receiver(move || answer(status, Some(("location", to.clone())))).await;
        let stopped = push_to(format!("http://{address}/")).await;
        assert!(matches!(stopped, Err(Fault::Stopped { .. })), "{status}: {stopped:?}");
    }
    assert!(seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn no_answer_in_time_is_no_answer() {
    let address = raw(|mut stream| async move {
        // takes what comes and never says a word
        tokio::io::copy(&mut stream.split().0, &mut tokio::io::sink()).await.ok();
    })
    .await;
    let hasty = WebhookSettings { timeout: Span::millis(200), ..settings(format!("http://{address}/")) };
    assert_eq!(push(&Webhook::new(&hasty).unwrap()).await, Err(Fault::NoAnswer));
}

#[tokio::test]
async fn a_connection_lost_after_sending_is_no_answer() {
    let reset = raw(|mut stream| async move {
        // closing with bytes unread makes the kernel send a reset
        stream.read_u8().await.unwrap();
    })
    .await;
    assert_eq!(push_to(format!("http://{reset}/")).await, Err(Fault::NoAnswer));

    let cut = raw(|mut stream| async move {
        let mut request = [0; 4096];
        let read = stream.read(&mut request).await.unwrap();
        assert!(read > 0);
        stream.write_all(b"HTTP/1.1 20").await.unwrap();
    })
    .await;
    assert_eq!(push_to(format!("http://{cut}/")).await, Err(Fault::NoAnswer));
}

#[tokio::test]
async fn what_never_left_is_not_a_maybe() {
    // bound and not listening: the port is nobody else's, and connections to it are refused
    let closed = TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = closed.local_addr().unwrap();
    let unsent = Err(Fault::Retry { after: None, maybe: false });
    assert_eq!(push_to(format!("http://{address}/")).await, unsent);
    // a label above 63 bytes is no name, so that no name server is asked
    assert_eq!(push_to(format!("http://{}.invalid/", "x".repeat(64))).await, unsent);
}

#[tokio::test]
async fn a_body_without_end_neither_hangs_nor_grows() {
    struct Dropped(Option<oneshot::Sender<()>>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.take().map(|sender| sender.send(()));
        }
    }
    let (sender, given_up) = oneshot::channel();
    let guard = Arc::new(Mutex::new(Some(Dropped(Some(sender)))));
    let (address, _) = receiver(move || {
        let guard = guard.lock().unwrap().take();
        let endless = stream::repeat_with(move || {
            let _held = &guard;
            Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 16 * 1024]))
        });
        Response::new(Body::from_stream(endless))
    })
    .await;
    let webhook = Webhook::new(&settings(format!("http://{address}/"))).unwrap();
    assert_eq!(push(&webhook).await, Ok(()));
    // the receiver's stream ends because the connection was given up, while the webhook lives on
    tokio::time::timeout(Duration::from_secs(30), given_up).await.unwrap().unwrap();
    drop(webhook);
}

#[tokio::test]
async fn a_body_that_never_comes_does_not_hold_the_outcome_up() {
    let (address, _) =
        receiver(|| Response::new(Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>())))
            .await;
    let patient = WebhookSettings { timeout: Span::seconds(300), ..settings(format!("http://{address}/")) };
    let begun = Instant::now();
    assert_eq!(push(&Webhook::new(&patient).unwrap()).await, Ok(()));
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn a_name_that_leads_inside_is_stopped() {
    let (address, seen) = receiver(|| answer(200, None)).await;
    let guarded = WebhookSettings { allow_private: false, ..settings("https://push.example.com/".into()) };
    let inside = Url::parse(&format!("http://localhost:{}/", address.port())).unwrap();
    let webhook = Webhook {
        client: guarded.client().unwrap().build().unwrap(),
        url: inside,
        signer: None,
        telling: Telling::new("inside"),
        limit: Duration::from_secs(1),
    };
    let stopped = push(&webhook).await;
    assert!(matches!(stopped, Err(Fault::Stopped { .. })), "{stopped:?}");
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn a_private_host_is_refused_unless_allowed() {
    for host in [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "x.localhost",
        "10.0.0.1:8080",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0x7f.1",
        "2130706433",
        "169.254.169.254",
        "[fe80::1]",
        "192.168.1.1",
    ] {
        let url = format!("http://{host}/in");
        let refused = Webhook::new(&WebhookSettings { allow_private: false, ..settings(url.clone()) });
        let refused = refused.err().unwrap();
        assert_eq!(refused.setting, "url", "{host}");
        assert!(refused.problem.contains("allow_private"), "{host}: {refused}");
        assert!(Webhook::new(&settings(url)).is_ok(), "{host}");
    }
    assert!(
        Webhook::new(&WebhookSettings { allow_private: false, ..settings("https://8.8.8.8/".into()) })
            .is_ok()
    );
}

#[test]
fn faults_name_their_setting() {
    let good = || settings("https://push.example.com/in".into());
    let fault = |bad: WebhookSettings| Webhook::new(&bad).err().unwrap();
    for url in [
        "",
        "push.example.com",
        "ftp://example.com/",
        "https://",
        "https://me:pass@example.com/",
        "mailto:a@b",
    ] {
        let refused = fault(settings(url.into()));
        assert_eq!(refused.setting, "url", "{url}");
        assert!(!refused.to_string().contains("pass@"), "{refused}");
    }
    for timeout in [Span::millis(99), Span::seconds(301)] {
        assert_eq!(fault(WebhookSettings { timeout, ..good() }).setting, "timeout");
    }
    let short = fault(WebhookSettings { secret: Some("whsec_c2VjcmV0".to_owned().into()), ..good() });
    assert_eq!(short.setting, "secret");
    assert!(!short.to_string().contains("c2VjcmV0"), "{short}");
}

#[test]
fn secrets_are_not_shown() {
    let settings = settings("https://push.example.com/in".into());
    let shown = format!("{settings:?} {:?}", Webhook::new(&settings).unwrap());
    assert!(!shown.contains(&STANDARD.encode(KEY)) && !shown.contains("whsec_"), "{shown}");
    assert!(!serde_json::to_string(&settings).unwrap().contains("whsec_"));
}
