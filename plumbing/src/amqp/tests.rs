//! What goes over the wire, seen from a listener in the broker's place.

use std::{path::PathBuf, sync::Arc, time::Duration};

use rustls::{
    ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::Span;

/// What a client of the protocol says first.
const HEADER: &[u8; 8] = b"AMQP\x00\x00\x09\x01";

fn certificate(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/amqp/certificates").join(name)
}

async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

fn broker(url: String, ca: Option<&str>, limit: Span) -> Broker {
    let settings = AmqpSettings {
        ca_file: ca.map(certificate),
        confirm_timeout: limit,
        ..AmqpSettings::at(url, "test")
    };
    Broker::new(&settings).unwrap()
}

fn acceptor() -> TlsAcceptor {
    let chain =
        CertificateDer::pem_file_iter(certificate("server.pem")).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(certificate("server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn first(stream: &mut (impl AsyncRead + Unpin)) -> [u8; 8] {
    let mut bytes = [0; 8];
    stream.read_exact(&mut bytes).await.unwrap();
    bytes
}

async fn soon<F: Future>(what: F) -> F::Output {
    timeout(Duration::from_secs(60), what).await.unwrap()
}

/// Waits until the other side has ended the connection.
async fn ended(mut stream: TcpStream) {
    let mut rest = Vec::new();
    // an end by reset is one too
    drop(soon(stream.read_to_end(&mut rest)).await);
}

#[tokio::test]
async fn amqps_is_tls_from_its_first_byte() {
    let (listener, port) = listener().await;
    let broker = broker(format!("amqps://localhost:{port}"), Some("trusted.pem"), Span::seconds(5));
    let connecting = tokio::spawn(async move { Link::open(&broker, "test").await.map(drop) });
    let (mut stream, _) = soon(listener.accept()).await.unwrap();
    // a record of a handshake (22), of TLS 1.0 or later as all say at first (3), with a client hello (1) in it
    let bytes = soon(first(&mut stream)).await;
    assert_eq!((bytes[0], bytes[1], bytes[5]), (22, 3, 1));
    stream.shutdown().await.unwrap();
    drop(stream);
    assert!(matches!(soon(connecting).await.unwrap(), Err(AmqpError::Connect { .. })));
}

#[tokio::test]
async fn a_certificate_of_the_file_s_is_believed_and_the_protocol_goes_through_tls() {
    let (listener, port) = listener().await;
    let broker = broker(format!("amqps://localhost:{port}"), Some("trusted.pem"), Span::seconds(5));
    let connecting = tokio::spawn(async move { Link::open(&broker, "test").await.map(drop) });
    let (stream, _) = soon(listener.accept()).await.unwrap();
    let mut stream = soon(acceptor().accept(stream)).await.unwrap();
    assert_eq!(&soon(first(&mut stream)).await, HEADER);
    connecting.abort();
}

#[tokio::test]
async fn a_certificate_of_somebody_else_is_refused() {
    // once by the wrong file, once by a system that knows neither
    for ca in [Some("other.pem"), None] {
        let (listener, port) = listener().await;
        let broker = broker(format!("amqps://localhost:{port}"), ca, Span::seconds(5));
        let connecting = tokio::spawn(async move { Link::open(&broker, "test").await.map(drop) });
        let (stream, _) = soon(listener.accept()).await.unwrap();
        assert!(soon(acceptor().accept(stream)).await.is_err());
        let error = soon(connecting).await.unwrap().unwrap_err();
        assert!(error.to_string().contains("certificate"), "{error}");
    }
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let (listener, port) = listener().await;
    let broker = broker(format!("amqps://127.0.0.2:{port}"), Some("trusted.pem"), Span::seconds(5));
    let other = TcpListener::bind(("127.0.0.2", port)).await.unwrap();
    drop(listener);
    let connecting = tokio::spawn(async move { Link::open(&broker, "test").await.map(drop) });
    let (stream, _) = soon(other.accept()).await.unwrap();
    assert!(soon(acceptor().accept(stream)).await.is_err());
    let error = soon(connecting).await.unwrap().unwrap_err();
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[tokio::test]
async fn amqp_is_plain() {
    let (listener, port) = listener().await;
    let broker = broker(format!("amqp://127.0.0.1:{port}"), None, Span::seconds(5));
    let connecting = tokio::spawn(async move { Link::open(&broker, "test").await.map(drop) });
    let (mut stream, _) = soon(listener.accept()).await.unwrap();
    assert_eq!(&soon(first(&mut stream)).await, HEADER);
    connecting.abort();
}

#[tokio::test]
async fn a_broker_that_says_nothing_is_given_up_and_its_socket_with_it() {
    let (listener, port) = listener().await;
    for (url, ca) in [("amqp://localhost", None), ("amqps://localhost", Some("trusted.pem"))] {
        let broker = broker(format!("{url}:{port}"), ca, Span::millis(200));
        let connecting = tokio::spawn(async move { Link::open(&broker, "test").await.map(drop) });
        let (stream, _) = soon(listener.accept()).await.unwrap();
        let end = soon(connecting).await.unwrap();
        assert!(matches!(end, Err(AmqpError::NoAnswer { .. } | AmqpError::Connect { .. })), "{end:?}");
        ended(stream).await;
    }
}

#[tokio::test]
async fn who_gives_up_earlier_leaves_no_socket_either() {
    let (listener, port) = listener().await;
    let broker = broker(format!("amqp://localhost:{port}"), None, Span::seconds(60));
    let connecting = tokio::spawn(async move { Link::open(&broker, "test").await.map(drop) });
    let (mut stream, _) = soon(listener.accept()).await.unwrap();
    assert_eq!(&soon(first(&mut stream)).await, HEADER);
    connecting.abort();
    ended(stream).await;
}

#[tokio::test]
async fn a_keeper_tries_again_as_often_as_it_is_asked() {
    let (listener, port) = listener().await;
    let broker = Arc::new(broker(format!("amqp://127.0.0.1:{port}"), None, Span::millis(500)));
    let keeper = Arc::new(Keeper::new(broker, "test"));
    // the waits have grown to two seconds at most by the second time
    for least in [2, 1] {
        let asking = Arc::clone(&keeper);
        let asked = tokio::spawn(async move { asking.link(Duration::from_secs(3)).await.map(drop) });
        // each is hung up on; they come until the time is over
        let mut attempts = 0;
        while !asked.is_finished() {
            if let Ok(Ok((stream, _))) = timeout(Duration::from_millis(100), listener.accept()).await {
                attempts += 1;
                drop(stream);
            }
        }
        assert!(attempts >= least, "{attempts}");
        assert!(matches!(asked.await.unwrap(), Err(AmqpError::Connect { .. })));
    }
}

#[test]
fn settings_that_are_wrong_are_all_named() {
    let settings = AmqpSettings {
        ca_file: Some("/nowhere/ca.pem".into()),
        heartbeat: Span::seconds(0),
        ..AmqpSettings::at("amqps://mq", "test")
    };
    let error = Broker::new(&settings).unwrap_err().to_string();
    assert!(error.contains("heartbeat: ") && error.contains("ca_file: /nowhere/ca.pem"), "{error}");
}
