use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A server of HTTP/2 in clear, which resets its first `times` streams with a reason; tells how many requests came.
async fn resetting(times: usize, reason: h2::Reason) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (url, came) = (format!("http://{}/", listener.local_addr().unwrap()), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&came);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                while let Some(Ok((_, mut answer))) = connection.accept().await {
                    if count.fetch_add(1, Ordering::SeqCst) < times {
                        answer.send_reset(reason);
                    } else {
                        answer.send_response(axum::http::Response::new(()), true).unwrap();
                    }
                }
            });
        }
    });
    (url, came)
}

async fn push_over_http2(url: String) -> Result<(), Fault> {
    let settings = settings(url);
    let client = settings.client().unwrap().http2_prior_knowledge().build().unwrap();
    push(&Webhook { client, ..Webhook::new(&settings).unwrap() }).await
}

#[tokio::test]
async fn a_stream_that_was_refused_is_sent_once_more_at_once() {
    let (url, came) = resetting(1, h2::Reason::REFUSED_STREAM).await;
    assert_eq!(push_over_http2(url).await, Ok(()));
    assert_eq!(came.load(Ordering::SeqCst), 2);
    let (url, came) = resetting(usize::MAX, h2::Reason::REFUSED_STREAM).await;
    assert_eq!(push_over_http2(url).await, Err(Fault::Retry { after: None, maybe: false }));
    assert_eq!(came.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_stream_that_was_broken_off_is_not_sent_again() {
    let (url, came) = resetting(usize::MAX, h2::Reason::CANCEL).await;
    assert_eq!(push_over_http2(url).await, Err(Fault::NoAnswer));
    assert_eq!(came.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_a_server_had_not_come_to_as_it_went_is_sent_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.unwrap();
        let mut preface = [0; 24];
        stream.read_exact(&mut preface).await.unwrap();
        // frames, until the headers of the request are there
        loop {
            let mut head = [0; 9];
            stream.read_exact(&mut head).await.unwrap();
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            stream.read_exact(&mut vec![0; usize::try_from(length).unwrap()]).await.unwrap();
            if head[3] == 1 {
                break;
            }
        }
        // it goes in good order and came to no stream
        stream.write_all(&[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).await.unwrap();
        let (other, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(other).await.unwrap();
        while let Some(Ok((_, mut answer))) = connection.accept().await {
            answer.send_response(axum::http::Response::new(()), true).unwrap();
        }
    });
    assert_eq!(push_over_http2(url).await, Ok(()));
}
