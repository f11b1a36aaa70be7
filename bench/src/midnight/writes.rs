use std::time::Duration;

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::{Instant, timeout_at},
};

use crate::servers::Redis;

/// Commands that change a key of the step store.
const WRITES: [&str; 12] =
    ["set", "hset", "hincrby", "hdel", "sadd", "srem", "zadd", "zrem", "rpush", "lpop", "del", "expire"];

/// How many commands change a key of the step store for so long, the lease on posting and the watermark aside: neither is an entry,
/// an id or a posting.
pub(super) async fn writes_for(redis: &Redis, lasting: Duration) -> anyhow::Result<f64> {
    let (read, mut write) = TcpStream::connect(("127.0.0.1", redis.port())).await?.into_split();
    write.write_all(b"MONITOR\r\n").await?;
    let (mut lines, end, mut count) = (BufReader::new(read).lines(), Instant::now() + lasting, 0.0);
    while let Ok(line) = timeout_at(end, lines.next_line()).await {
        if let Some(line) = line?.filter(|line| is_write(line)) {
            eprintln!("written: {line}");
            count += 1.0;
        }
    }
    Ok(count)
}

/// Whether a line such as `+1780844400.1 [0 lua] "SET" "key" "7"` is of such a command.
fn is_write(line: &str) -> bool {
    let mut words = line.split_once("] \"").map_or("", |(_, rest)| rest).split('"');
    let (command, key) = (words.next().unwrap_or_default(), words.nth(1).unwrap_or_default());
    WRITES.contains(&command.to_ascii_lowercase().as_str())
        && key.contains("{s.")
        && !key.ends_with(":feed_lease")
        && !key.ends_with(":frozen")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_of_entries_are_told_from_others() {
        assert!(is_write(r#"+1.1 [0 lua] "HSET" "stepcast:main:{s.3}:steps:20260607" "7" "x""#));
        assert!(!is_write(r#"+1.1 [0 lua] "SET" "stepcast:main:{s.0}:feed_lease" "7""#));
        assert!(!is_write(r#"+1.1 [0 127.0.0.1:1] "hmget" "stepcast:main:{s.3}:steps:20260607" "7""#));
        assert!(!is_write(r#"+1.1 [0 lua] "SET" "stepcast:main:{d.3}:u:7" "x""#));
    }
}
