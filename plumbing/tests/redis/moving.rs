use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use plumbing::{Command, Redis, Script, redis_slot};

use crate::place::{CLUSTER, redis, urls, word};

/// A slot goes from its node to another and back, with writes under way: none is lost, none is done twice, and nobody
/// sees a fault.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the servers that tests/run starts"]
async fn a_slot_that_moves_under_writes_loses_and_doubles_none() {
    let redis = redis(CLUSTER);
    let tag = word();
    let slot = redis_slot(tag.as_bytes());
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..4)
        .map(|writer| tokio::spawn(write(redis.clone(), tag.clone(), writer, Arc::clone(&stop))))
        .collect();
    let nodes = nodes().await;
    for _ in 0..4 {
        move_slot(&nodes, slot).await;
    }
    stop.store(true, Ordering::Release);
    for writer in writers {
        let (key, other, written) = writer.await.unwrap();
        assert!(written > 0);
        let pair = vec![Command::new("GET").key(&key), Command::new("GET").key(&other)];
        assert_eq!(redis.read_all::<u64>(pair).await.unwrap(), [written, written]);
    }
    redis.erase().await.unwrap();
}

/// Raises two counters, by a pipeline of plain commands and scripts, until it is told to stop; how often it did.
async fn write(redis: Redis, tag: String, writer: u32, stop: Arc<AtomicBool>) -> (String, String, u64) {
    let script = Script::new("raise", "return redis.call('INCR', KEYS[1])");
    let (key, other) =
        (redis.key(&tag, format_args!("{writer}:a")), redis.key(&tag, format_args!("{writer}:b")));
    let mut written = 0;
    while !stop.load(Ordering::Acquire) {
        let elsewhere = redis.key(word(), "c");
        let calls = vec![Command::new("INCR").key(&key), script.call(&[&elsewhere]), script.call(&[&other])];
        let raised = redis.write_all::<u64>(calls).await.unwrap();
        written += 1;
        assert_eq!(raised, [written, 1, written]);
    }
    (key, other, written)
}

struct Node {
    id: String,
    port: u16,
    connection: redis::aio::MultiplexedConnection,
}

async fn nodes() -> Vec<Node> {
    let mut nodes = Vec::new();
    for url in urls(CLUSTER) {
        let client = redis::Client::open(url.as_str()).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        let id = redis::cmd("CLUSTER").arg("MYID").query_async(&mut connection).await.unwrap();
        let port = url.rsplit_once(':').unwrap().1.parse().unwrap();
        nodes.push(Node { id, port, connection });
    }
    nodes
}

/// Moves a slot from the node that has it to the next, key by key, as `redis-cli --cluster reshard` does.
async fn move_slot(nodes: &[Node], slot: u16) {
    let mut owner = None;
    for (at, node) in nodes.iter().enumerate() {
        let text: String = ask(node, &["CLUSTER", "NODES"]).await;
        let line = text.lines().find(|line| line.contains("myself")).unwrap();
        let has = |range: &str| match range.split_once('-') {
            Some((first, last)) => {
                (first.parse::<u16>().unwrap()..=last.parse::<u16>().unwrap()).contains(&slot)
            }
            None => range.parse() == Ok(slot),
        };
        if line.split(' ').skip(8).filter(|range| !range.starts_with('[')).any(has) {
            owner = Some(at);
        }
    }
    let from = &nodes[owner.unwrap()];
    let to = &nodes[(owner.unwrap() + 1) % nodes.len()];
    let (slot, port) = (slot.to_string(), to.port.to_string());
    let _: () = ask(to, &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from.id]).await;
    let _: () = ask(from, &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to.id]).await;
    loop {
        let keys: Vec<String> = ask(from, &["CLUSTER", "GETKEYSINSLOT", &slot, "1"]).await;
        let Some(key) = keys.first() else { break };
        let _: String = ask(from, &["MIGRATE", "127.0.0.1", &port, key, "0", "5000"]).await;
    }
    for node in [to, from].into_iter().chain(nodes) {
        let _: () = ask(node, &["CLUSTER", "SETSLOT", &slot, "NODE", &to.id]).await;
    }
}

async fn ask<T: redis::FromRedisValue>(node: &Node, words: &[&str]) -> T {
    let mut command = redis::Cmd::new();
    for word in words {
        command.arg(*word);
    }
    command.query_async(&mut node.connection.clone()).await.unwrap()
}
