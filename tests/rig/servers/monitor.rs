use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    sync::oneshot,
    task::JoinHandle,
};

/// Writes down every command that a Redis server carries out, those of scripts too (`MONITOR`).
#[derive(Debug)]
pub struct Monitor {
    end: oneshot::Sender<()>,
    lines: JoinHandle<Vec<String>>,
}

/// Commands that change a key.
const WRITES: [&str; 24] = [
    "set", "mset", "setrange", "setex", "append", "incr", "incrby", "getset", "del", "unlink", "expire",
    "pexpire", "persist", "hset", "hincrby", "hdel", "sadd", "srem", "zadd", "zrem", "rpush", "lpush",
    "lpop", "ltrim",
];

impl Monitor {
    /// Begins at the server with this address, `HOST:PORT`.
    pub async fn begin(address: &str) -> Self {
        let (read, mut write) = TcpStream::connect(address).await.unwrap().into_split();
        write.write_all(b"MONITOR\r\n").await.unwrap();
        let mut read = BufReader::new(read).lines();
        assert_eq!(read.next_line().await.unwrap().as_deref(), Some("+OK"));
        let (end, mut ended) = oneshot::channel();
        let lines = tokio::spawn(async move {
            let (mut lines, _open) = (Vec::new(), write);
            loop {
                tokio::select! {
                    line = read.next_line() => lines.push(line.unwrap().expect("the server is there")),
                    _ = &mut ended => return lines,
                }
            }
        });
        Self { end, lines }
    }

    /// Ends, and answers the commands that changed a key with `part` in its name.
    pub async fn writes(self, part: &str) -> Vec<String> {
        self.end.send(()).expect("it runs");
        let lines = self.lines.await.unwrap();
        lines.into_iter().filter(|line| is_write(line) && line.contains(part)).collect()
    }
}

/// Whether a line such as `+1780844400.1 [0 lua] "SET" "key" "7"` is of a command that changes a key.
fn is_write(line: &str) -> bool {
    let command = line.split_once("] \"").and_then(|(_, rest)| rest.split('"').next());
    command.is_some_and(|command| WRITES.contains(&command.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RedisServer;

    #[test]
    fn writes_are_told_from_reads() {
        assert!(is_write(r#"+1780844400.1 [0 lua] "SET" "a:steps:1" "7""#));
        assert!(!is_write(r#"+1780844400.1 [0 127.0.0.1:1] "mget" "a:steps:1""#));
        assert!(!is_write(r#"+1780844400.1 [0 127.0.0.1:1] "evalsha" "ab" "1" "a:steps:1""#));
    }

    #[tokio::test]
    async fn what_a_script_writes_is_seen() {
        let redis = RedisServer::start(&[]).await;
        let monitor = Monitor::begin(&redis.address()).await;
        redis.cli(&["EVAL", "return redis.call('INCR', KEYS[1])", "1", "a:steps:1"]).await;
        redis.cli(&["SET", "a:other:1", "1"]).await;
        redis.cli(&["GET", "a:steps:1"]).await;
        let writes = monitor.writes(":steps:").await;
        assert!(writes.len() == 1 && writes[0].contains("lua"), "{writes:?}");
    }
}
