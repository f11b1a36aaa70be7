//! `redis-benchmark`, the server's own client, as a baseline.

use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use crate::servers::Redis;

/// Keys that a baseline draws from.
pub(crate) const KEYS: u64 = 1_000_000;

/// Calls a second of `INCRBY k:<random> 5`, 16 in a pipeline on each of 8 connections.
pub(crate) async fn incrby(redis: &Redis, calls: u64) -> anyhow::Result<f64> {
    let asked = ["-P", "16", "INCRBY", "k:__rand_int__", "5"];
    run(redis, calls, &asked.map(str::to_owned)).await
}

/// Calls a second of `MGET` of 200 random keys on 8 connections.
pub(crate) async fn mget_200(redis: &Redis, calls: u64) -> anyhow::Result<f64> {
    let keys = std::iter::repeat_n("k:__rand_int__".to_owned(), 200);
    run(redis, calls, &std::iter::once("MGET".to_owned()).chain(keys).collect::<Vec<_>>()).await
}

/// Writes every key that a baseline may draw, each with a number of steps.
pub(crate) async fn fill(redis: &Redis) -> anyhow::Result<()> {
    let mut connection = redis::Client::open(redis.url())?.get_multiplexed_async_connection().await?;
    connection.set_response_timeout(std::time::Duration::from_secs(60));
    for first in (0..KEYS).step_by(10_000) {
        let mut set = redis::cmd("MSET");
        for key in first..first + 10_000 {
            set.arg(format!("k:{key:012}")).arg(1_000 + key % 20_000);
        }
        let () = set.query_async(&mut connection).await?;
    }
    Ok(())
}

async fn run(redis: &Redis, calls: u64, asked: &[String]) -> anyhow::Result<f64> {
    let mut command = Command::new("redis-benchmark");
    command.args(["-h", "127.0.0.1", "-p", &redis.port().to_string(), "--csv", "-c", "8"]);
    command.args(["-r", &KEYS.to_string(), "-n", &calls.to_string()]).args(asked);
    command.env_clear().stdin(Stdio::null());
    let done = tokio::task::spawn_blocking(move || command.output()).await?.context("redis-benchmark")?;
    if !done.status.success() {
        bail!("redis-benchmark: {}: {}", done.status, String::from_utf8_lossy(&done.stderr));
    }
    rate(&String::from_utf8_lossy(&done.stdout)).context("redis-benchmark tells no rate")
}

/// The second field of the line after the head: `"INCRBY k:__rand_int__ 5","181818.18",...`.
fn rate(csv: &str) -> Option<f64> {
    let line = csv.lines().find(|line| line.starts_with('"') && !line.starts_with("\"test\""))?;
    line.split("\",\"").nth(1)?.trim_matches('"').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_read_from_the_line_below_the_head() {
        let told = "\"test\",\"rps\",\"avg_latency_ms\"\n\"MGET k:__rand_int__ k:__rand_int__\",\"5347.59\",\"1.4\"\n";
        assert_eq!(rate(told), Some(5_347.59));
        assert_eq!(rate("\"test\",\"rps\"\n"), None);
    }
}
