use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use crate::servers::Redis;

/// Calls a second of `INCRBY k:<random of a million> 5` by `redis-benchmark`, 16 in a pipeline on each of 8 connections.
pub(super) async fn baseline(redis: &Redis, calls: u64) -> anyhow::Result<f64> {
    let mut command = Command::new("redis-benchmark");
    command.args(["-h", "127.0.0.1", "-p", &redis.port().to_string(), "--csv", "-P", "16", "-c", "8"]);
    command.args(["-r", "1000000", "-n", &calls.to_string(), "INCRBY", "k:__rand_int__", "5"]);
    command.env_clear().stdin(Stdio::null());
    let done = tokio::task::spawn_blocking(move || command.output()).await?.context("redis-benchmark")?;
    if !done.status.success() {
        bail!("redis-benchmark: {}: {}", done.status, String::from_utf8_lossy(&done.stderr));
    }
    let told = String::from_utf8_lossy(&done.stdout);
    rate(&told).with_context(|| format!("redis-benchmark said {told:?}"))
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
        let told = "\"test\",\"rps\"\n\"INCRBY k:__rand_int__ 5\",\"181818.18\"\n";
        assert_eq!(rate(told), Some(181_818.18));
        assert_eq!(rate("\"test\",\"rps\"\n"), None);
    }
}
