use std::process::Command;

use anyhow::Context;

use crate::servers::Redis;

/// Keys a command reads.
const KEYS: u32 = 200;
/// Commands.
const COMMANDS: u32 = 20_000;

/// Keys a second that `redis-benchmark` reads by MGET of 200 random ones out of as many as there are users.
pub(super) async fn baseline(redis: &Redis, users: u64) -> anyhow::Result<f64> {
    fill(redis, users).await?;
    let mut command = Command::new("redis-benchmark");
    command.args(["-p", &redis.port().to_string(), "-c", "8", "-r", &users.to_string()]);
    command.args(["-n", &COMMANDS.to_string(), "--csv", "MGET"]).args((0..KEYS).map(|_| "k:__rand_int__"));
    let done = tokio::task::spawn_blocking(move || command.output()).await?.context("redis-benchmark")?;
    let told = String::from_utf8_lossy(&done.stdout);
    let rate = told.lines().last().and_then(|line| line.split("\",\"").nth(1)?.parse::<f64>().ok());
    Ok(rate.with_context(|| format!("redis-benchmark said {told:?}"))? * f64::from(KEYS))
}

/// A key a user with its steps, named as `redis-benchmark` does.
async fn fill(redis: &Redis, users: u64) -> anyhow::Result<()> {
    let mut connection = redis::Client::open(redis.url())?.get_multiplexed_async_connection().await?;
    for first in (0..users).step_by(10_000) {
        let mut pipe = redis::pipe();
        for n in first..users.min(first + 10_000) {
            pipe.cmd("SET").arg(format!("k:{n:012}")).arg(n * 7_919 % 19_000).ignore();
        }
        pipe.query_async::<()>(&mut connection).await?;
    }
    Ok(())
}
