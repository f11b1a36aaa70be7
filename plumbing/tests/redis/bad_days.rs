use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use plumbing::{CheckError, Command, Redis, RedisSettings, StoreError};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
    time::timeout,
};

use crate::server::{Server, until};

/// Twice the time limit of the settings, for connecting and for the answer, and what a busy machine adds.
const LIMIT: Duration = Duration::from_millis(1_000 + 4_000);

async fn raise(redis: &Redis) -> Result<i64, StoreError> {
    redis.write(Command::new("INCR").key(redis.key("t", "n"))).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn it_comes_back_after_a_kill_and_a_restart() {
    let mut server = Server::start(&[]).await;
    let redis = server.redis();
    assert_eq!(raise(&redis).await.unwrap(), 1);
    server.kill();
    let error = raise(&redis).await.unwrap_err().to_string();
    assert!(error.contains(&format!("127.0.0.1:{}", server.port)) && error.contains("INCR"), "{error}");
    assert!(matches!(redis.check().await, Err(CheckError::Away(_))));
    server.run().await;
    // what was answered is there, and the first call that finds the server is served
    until(async || raise(&redis).await.is_ok()).await;
    assert!(raise(&redis).await.unwrap() >= 3);
    redis.check().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn a_read_outlives_a_restart_between_calls() {
    let mut server = Server::start(&[]).await;
    let redis = server.redis();
    // a connection is made, then cut while nobody uses it
    for _ in 0..8 {
        raise(&redis).await.unwrap();
    }
    server.kill();
    server.run().await;
    let held: i64 = redis.read(Command::new("GET").key(redis.key("t", "n"))).await.unwrap();
    assert_eq!(held, 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn calls_to_a_silent_server_end_in_time_and_do_not_pile_up() {
    let server = Server::start(&[]).await;
    let redis = server.redis();
    raise(&redis).await.unwrap();
    server.told(&["CLIENT", "PAUSE", "3000", "ALL"]).await.unwrap();
    let start = Instant::now();
    let calls: Vec<_> = (0..500)
        .map(|_| {
            let redis = redis.clone();
            tokio::spawn(async move { raise(&redis).await })
        })
        .collect();
    for call in calls {
        let error = call.await.unwrap().unwrap_err().to_string();
        // one that found no connection free got no answer on a new one
        let late = error.contains("within") || error.contains("cannot connect: timed out");
        assert!(late, "{error}");
    }
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
    until(async || raise(&redis).await.is_ok()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn nobody_there_is_an_error_in_time_and_no_end() {
    let mut server = Server::start(&[]).await;
    server.kill();
    until(async || !server.reachable().await).await;
    // a client that was made while the server was away finds it later
    let redis = server.redis();
    let start = Instant::now();
    assert!(matches!(raise(&redis).await, Err(StoreError::Unavailable(_))));
    assert!(start.elapsed() < LIMIT);
    server.run().await;
    assert_eq!(raise(&redis).await.unwrap(), 1);
    // and so does one of a cluster that is not there
    let mut settings = RedisSettings::at(vec!["redis://127.0.0.1:1".to_owned()], "t");
    settings.cluster = true;
    let cluster = Redis::new(&settings).unwrap();
    let error = raise(&cluster).await.unwrap_err().to_string();
    assert!(error.contains("no node of the cluster"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn a_primary_that_becomes_a_replica_does_not_hold_us() {
    let server = Server::start(&[]).await;
    let redis = server.redis();
    raise(&redis).await.unwrap();
    server.told(&["REPLICAOF", "127.0.0.1", "1"]).await.unwrap();
    let error = raise(&redis).await.unwrap_err().to_string();
    assert!(error.contains("replica"), "{error}");
    let away = redis.check().await.unwrap_err();
    assert!(matches!(&away, CheckError::Away(why) if why.contains("role is slave")), "{away}");
    // it made new connections, which is how it would have found the new primary behind the name
    let made = |text: String| -> u64 {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("total_connections_received:"))
            .unwrap()
            .to_owned();
        line.parse().unwrap()
    };
    let before = made(server.told(&["INFO", "stats"]).await.unwrap());
    raise(&redis).await.unwrap_err();
    raise(&redis).await.unwrap_err();
    assert!(made(server.told(&["INFO", "stats"]).await.unwrap()) > before + 1);
    server.told(&["REPLICAOF", "NO", "ONE"]).await.unwrap();
    until(async || raise(&redis).await.is_ok()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn a_full_server_says_so_and_can_be_read() {
    let server = Server::start(&[]).await;
    let redis = server.redis();
    raise(&redis).await.unwrap();
    server.told(&["CONFIG", "SET", "maxmemory", "100kb"]).await.unwrap();
    let error = raise(&redis).await.unwrap_err().to_string();
    assert!(error.contains("out of memory"), "{error}");
    let held: i64 = redis.read(Command::new("GET").key(redis.key("t", "n"))).await.unwrap();
    assert_eq!(held, 1);
    server.told(&["CONFIG", "SET", "maxmemory", "0"]).await.unwrap();
    assert_eq!(raise(&redis).await.unwrap(), 2);
}

/// A way to the server whose first connection falls silent, both ways, when it is told to.
async fn falling_silent(port: u16) -> (String, Arc<Notify>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (url, told) = (format!("redis://{}", listener.local_addr().unwrap()), Arc::new(Notify::new()));
    let fall_silent = Arc::clone(&told);
    tokio::spawn(async move {
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            let mut far = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let fall_silent = Arc::clone(&fall_silent);
            tokio::spawn(async move {
                let told = async {
                    fall_silent.notified().await;
                };
                tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
                    () = told => std::future::pending().await,
                }
            });
        }
    });
    (url, told)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn callers_with_little_time_do_not_meet_a_silent_connection_for_ever() {
    let server = Server::start(&[]).await;
    let (url, told) = falling_silent(server.port).await;
    let settings =
        RedisSettings { timeout: plumbing::Span::seconds(60), ..RedisSettings::at(vec![url], "t") };
    let redis = Redis::new(&settings).unwrap();
    raise(&redis).await.unwrap();
    told.notify_one();
    // long before the time limit of the settings
    assert!(timeout(Duration::from_millis(1_500), raise(&redis)).await.is_err());
    timeout(Duration::from_secs(30), raise(&redis)).await.unwrap().unwrap();
}
