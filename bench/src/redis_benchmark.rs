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
