use plumbing::{CheckError, Redis, RedisSettings};

use crate::server::{Server, certificate};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn rediss_is_spoken_to_those_that_are_trusted_only() {
    let server = Server::start_tls().await;
    let mut settings = server.settings();
    let url = |host: &str| vec![format!("rediss://{host}:{}", server.tls_port)];
    settings.urls = url("localhost");
    settings.ca_file = Some(certificate("trusted.pem"));
    Redis::new(&settings).unwrap().check().await.unwrap();

    // one that nobody trusted signed for, one of another name, and one that does not speak TLS
    let away = async |settings: &RedisSettings| match Redis::new(settings).unwrap().check().await {
        Err(CheckError::Away(why)) => why,
        other => panic!("not away: {other:?}"),
    };
    let why = away(&RedisSettings { ca_file: Some(certificate("other.pem")), ..settings.clone() }).await;
    assert!(why.contains("certificate"), "{why}");
    let why = away(&RedisSettings { ca_file: None, ..settings.clone() }).await;
    assert!(why.contains("certificate"), "{why}");
    let why = away(&RedisSettings { urls: url("127.0.0.2"), ..settings.clone() }).await;
    assert!(why.contains("certificate"), "{why}");
    let plain = vec![format!("rediss://localhost:{}", server.port)];
    away(&RedisSettings { urls: plain, ..settings.clone() }).await;

    let bad = RedisSettings { ca_file: Some("/nowhere/ca.pem".into()), ..settings };
    let faults = Redis::new(&bad).map(|_| ()).unwrap_err();
    assert!(faults[0].starts_with("ca_file: /nowhere/ca.pem: "), "{faults:?}");
}
