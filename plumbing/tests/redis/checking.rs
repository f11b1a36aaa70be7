use plumbing::{CheckError, Command, Redis};

use crate::server::Server;

fn refused(end: Result<plumbing::Checked, CheckError>) -> String {
    match end {
        Err(CheckError::Refused(faults)) => faults.join("\n"),
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn a_server_that_evicts_or_forgets_is_refused_whenever_it_is_asked() {
    let server = Server::start(&[]).await;
    let redis = server.redis();
    redis.check().await.unwrap();
    let changes = [
        ("maxmemory-policy", "allkeys-lru", "noeviction"),
        ("appendfsync", "everysec", "always"),
        ("no-appendfsync-on-rewrite", "yes", "no"),
        ("appendonly", "no", "yes"),
    ];
    for (parameter, bad, good) in changes {
        server.told(&["CONFIG", "SET", parameter, bad]).await.unwrap();
        let faults = refused(redis.check().await);
        let wanted = format!("127.0.0.1:{}: {parameter} is {bad}: {good}", server.port);
        assert!(faults.contains(&wanted), "{faults}");
        server.told(&["CONFIG", "SET", parameter, good]).await.unwrap();
    }
    redis.check().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn a_server_that_hides_its_parameters_is_taken_with_a_warning() {
    let server = Server::start(&["--rename-command", "CONFIG", ""]).await;
    let warnings = server.redis().check().await.unwrap().warnings.join("\n");
    assert!(warnings.contains("appendfsync could not be asked for"), "{warnings}");
    assert!(!warnings.contains("maxmemory-policy"), "{warnings}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn a_cluster_is_told_from_one_server() {
    let server = Server::start(&["--cluster-enabled", "yes"]).await;
    let faults = refused(server.redis().check().await);
    assert!(faults.contains("cluster_enabled is 1: 0 (cluster = false) is wanted"), "{faults}");
    // the other way about
    let single = Server::start(&[]).await;
    let mut settings = single.settings();
    settings.cluster = true;
    let end = Redis::new(&settings).unwrap().check().await;
    assert!(
        matches!(&end, Err(CheckError::Away(why)) if why.contains("cluster support disabled")),
        "{end:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn who_may_not_come_in_is_told_so_without_the_password() {
    let server = Server::start(&["--requirepass", "right"]).await;
    let mut settings = server.settings();
    let call = async |redis: &Redis| {
        redis.read::<Option<String>>(Command::new("GET").key(redis.key("t", "x"))).await
    };
    let error = call(&Redis::new(&settings).unwrap()).await.unwrap_err().to_string();
    assert!(error.contains("NOAUTH") || error.contains("Authentication"), "{error}");
    settings.password = Some("wrong-one".into());
    let error = call(&Redis::new(&settings).unwrap()).await.unwrap_err().to_string();
    assert!(error.contains("cannot connect") && !error.contains("wrong-one"), "{error}");
    settings.password = Some("right".into());
    let redis = Redis::new(&settings).unwrap();
    assert_eq!(call(&redis).await.unwrap(), None);
    redis.check().await.unwrap();
}
