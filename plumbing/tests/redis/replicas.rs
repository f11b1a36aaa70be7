use plumbing::{CheckError, Command, Durability, Redis, Script, StoreError};

use crate::server::{Server, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn a_write_that_too_few_replicas_have_is_no_success() {
    let primary = Server::start(&[]).await;
    let mut settings = primary.settings();
    settings.durability = Durability::Replicated;
    settings.replicas = 1;
    let redis = Redis::new(&settings).unwrap();
    let script = Script::new("raise", "return redis.call('INCR', KEYS[1])");
    let calls = || vec![Command::new("INCR").key(redis.key("t", "n")), script.call(&[redis.key("u", "n")])];

    let error = redis.write_all::<i64>(calls()).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    assert!(text.contains("0 of 1 replicas") && text.contains("durability"), "{text}");
    let away = redis.check().await.unwrap_err();
    assert!(matches!(&away, CheckError::Away(why) if why.contains("connected_slaves is 0")), "{away}");
    // a read waits for nobody
    redis.read::<i64>(Command::new("GET").key(redis.key("t", "n"))).await.unwrap();

    let replica = Server::start(&["--replicaof", "127.0.0.1", &primary.port.to_string()]).await;
    until(async || redis.write_all::<i64>(calls()).await.is_ok()).await;
    until(async || redis.check().await.is_ok()).await;
    // what was answered is at the replica by then
    let answered = redis.write_all::<i64>(calls()).await.unwrap();
    let there = replica.told(&["GET", &redis.key("t", "n")]).await.unwrap();
    assert_eq!(there, answered[0].to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn a_repeated_write_that_finds_its_work_done_waits_for_the_replicas_too() {
    let primary = Server::start(&[]).await;
    let mut settings = primary.settings();
    settings.durability = Durability::Replicated;
    settings.replicas = 1;
    let redis = Redis::new(&settings).unwrap();
    let replica = Server::start(&["--replicaof", "127.0.0.1", &primary.port.to_string()]).await;
    let once = Script::new("once", "return redis.call('SETNX', KEYS[1], '1')");
    let key = |name: &str| redis.key("t", name);
    until(async || redis.write::<i64>(once.call(&[key("before")])).await.is_ok()).await;

    // the write whose answer was lost: the replica has not got it
    replica.freeze();
    primary.told(&["SET", &key("n"), "1"]).await.unwrap();
    let error = redis.write::<i64>(once.call(&[key("n")])).await.unwrap_err();
    assert!(error.to_string().contains("0 of 1 replicas"), "{error}");
    replica.thaw();
    until(async || matches!(redis.write::<i64>(once.call(&[key("n")])).await, Ok(0))).await;
    assert_eq!(replica.told(&["GET", &key("n")]).await.unwrap(), "1");
}
