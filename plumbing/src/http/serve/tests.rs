use std::sync::atomic::{AtomicUsize, Ordering};

use axum::routing::get;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::Notify,
};

use super::*;

const BOUNDS: Listening = Listening { connections: 2, streams: 8, drain: Duration::from_millis(300) };

async fn started(router: Router) -> (std::net::SocketAddr, CancellationToken, tokio::task::JoinHandle<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let task = tokio::spawn(serve(listener, router, stop.clone(), BOUNDS));
    (address, stop, task)
}

async fn asked(address: std::net::SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    stream
}

async fn answer(stream: &mut TcpStream) -> String {
    let mut bytes = vec![0; 4_096];
    let read = stream.read(&mut bytes).await.unwrap();
    String::from_utf8_lossy(&bytes[..read]).into_owned()
}

#[tokio::test]
async fn what_is_in_flight_ends_after_the_stop_and_idle_connections_do_not_hold_it_up() {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (says, waits) = (Arc::clone(&begun), Arc::clone(&go));
    let router = Router::new().route(
        "/",
        get(|| async move {
            says.notify_one();
            waits.notified().await;
            "done"
        }),
    );
    let (address, stop, task) = started(router).await;
    let _idle = TcpStream::connect(address).await.unwrap();
    let mut asking = asked(address).await;
    begun.notified().await;
    stop.cancel();
    go.notify_one();
    assert!(answer(&mut asking).await.ends_with("done"));
    assert!(task.await.unwrap());
}

/// Who has sent half of a request and says no more keeps nobody from stopping.
#[tokio::test]
async fn half_a_request_does_not_hold_the_stop_up_for_long() {
    let (address, stop, task) = started(Router::new().route("/", get(|| async { "done" }))).await;
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(b"GET / HTTP/1.1\r\nhost:").await.unwrap();
    // it is taken once another one, which came later, is answered
    assert!(answer(&mut asked(address).await).await.ends_with("done"));
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(10), task).await.expect("an end").unwrap();
}

#[tokio::test]
async fn what_does_not_end_is_cut_off() {
    let (address, stop, task) = started(Router::new().route("/", get(std::future::pending::<()>))).await;
    let mut asking = asked(address).await;
    tokio::time::timeout(Duration::from_millis(50), answer(&mut asking)).await.unwrap_err();
    stop.cancel();
    assert!(!task.await.unwrap());
    assert_eq!(answer(&mut asking).await, "");
}

#[tokio::test]
async fn connections_are_bounded() {
    static NOW: AtomicUsize = AtomicUsize::new(0);
    let router = Router::new().route("/", get(|| async { NOW.fetch_add(1, Ordering::SeqCst).to_string() }));
    let (address, stop, task) = started(router).await;
    let (mut one, mut two) = (asked(address).await, asked(address).await);
    assert!(
        answer(&mut one).await.starts_with("HTTP/1.1 200")
            && answer(&mut two).await.starts_with("HTTP/1.1 200")
    );
    let mut three = asked(address).await;
    tokio::time::timeout(Duration::from_millis(50), answer(&mut three)).await.unwrap_err();
    drop(one);
    assert!(answer(&mut three).await.starts_with("HTTP/1.1 200"));
    drop((two, three));
    stop.cancel();
    assert!(task.await.unwrap());
}
