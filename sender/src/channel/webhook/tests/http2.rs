use std::sync::atomic::{AtomicUsize, Ordering};

use h2::server::SendResponse;

use super::*;

type Connection = h2::server::Connection<TcpStream, Bytes>;

/// A server of HTTP/2 in clear, whose first answer to a request is to `refuse` it; tells how many requests came.
async fn refusing(
    refuse: fn(&mut Connection, SendResponse<Bytes>),
    times: usize,
) -> (String, Arc<AtomicUsize>) {
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
                        refuse(&mut connection, answer);
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

fn refuse_the_stream(_: &mut Connection, mut answer: SendResponse<Bytes>) {
    answer.send_reset(h2::Reason::REFUSED_STREAM);
}

#[tokio::test]
async fn a_stream_that_was_refused_is_sent_again_at_once_and_not_for_ever() {
    let (url, came) = refusing(refuse_the_stream, 2).await;
    assert_eq!(push_over_http2(url).await, Ok(()));
    assert_eq!(came.load(Ordering::SeqCst), 3);
    let (url, came) = refusing(refuse_the_stream, usize::MAX).await;
    assert_eq!(push_over_http2(url).await, Err(Fault::Retry { after: None, maybe: false }));
    assert_eq!(came.load(Ordering::SeqCst), 1 + REPEATS);
}

#[tokio::test]
async fn a_stream_that_was_broken_off_is_not_sent_again() {
    let cancel = |_: &mut Connection, mut answer: SendResponse<Bytes>| answer.send_reset(h2::Reason::CANCEL);
    let (url, came) = refusing(cancel, usize::MAX).await;
    assert_eq!(push_over_http2(url).await, Err(Fault::NoAnswer));
    assert_eq!(came.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_was_under_way_as_the_server_went_is_tried_later_and_may_have_been_taken() {
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
        while stream.read(&mut preface).await.is_ok_and(|read| read > 0) {}
    });
    assert_eq!(push_over_http2(url).await, Err(Fault::Retry { after: None, maybe: true }));
}
