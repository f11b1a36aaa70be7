//! Reports at a steady pace, and how long each call takes.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use chrono::{DateTime, Utc};
use futures_util::future::try_join_all;
use xxhash_rust::xxh3::xxh3_64;

use super::Ingest;

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Batches a second, and their items.
    pub(crate) batches: u32,
    pub(crate) items: u64,
    /// Readings of one user's steps a second.
    pub(crate) reads: u32,
    /// For so long.
    pub(crate) lasting: Duration,
    /// Users that are drawn from.
    pub(crate) users: u64,
    /// What the daemon's clock is ahead of this one.
    pub(crate) ahead: chrono::TimeDelta,
    /// Totals of one round are above those of the rounds before.
    pub(crate) round: u64,
}

/// How long calls took, in milliseconds: the slowest of a hundred.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slowest {
    pub(crate) posts: f64,
    pub(crate) reads: f64,
}

impl Pace {
    /// Sends on the hour of each call, whether or not those before are answered.
    pub(crate) async fn send(self, ingest: &Ingest, key: &str) -> anyhow::Result<Slowest> {
        let client = reqwest::Client::builder().no_proxy().build()?;
        let posts = self.calls(self.batches, |number| {
            let (client, key) = (client.clone(), key.to_owned());
            let (url, body) = (format!("{}/v1/reports", ingest.url), self.body(number));
            async move {
                let request = client.post(url).bearer_auth(key).header("content-type", "application/json");
                checked(request.body(body).send().await?).await
            }
        });
        let reads = self.calls(self.reads, |number| {
            let (client, key) = (client.clone(), key.to_owned());
            let (uid, day) = (1 + draw(number) % self.users, self.now().format("%Y%m%d"));
            let url = format!("{}/v1/users/{uid}/steps?day={day}", ingest.url);
            async move { checked(client.get(url).bearer_auth(key).send().await?).await }
        });
        let (posts, reads) = tokio::try_join!(posts, reads)?;
        Ok(Slowest { posts: slowest(posts)?, reads: slowest(reads)? })
    }

    async fn calls<F, C>(self, per_second: u32, call: F) -> anyhow::Result<Vec<Duration>>
    where
        F: Fn(u64) -> C,
        C: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let count = u64::from(per_second) * self.lasting.as_secs();
        let mut pause = tokio::time::interval(Duration::from_secs(1) / per_second.max(1));
        let mut calls = Vec::new();
        for number in 0..count {
            pause.tick().await;
            let (begun, call) = (Instant::now(), call(number));
            calls.push(tokio::spawn(async move { call.await.map(|()| begun.elapsed()) }));
        }
        try_join_all(calls).await.context("a call ended")?.into_iter().collect()
    }

    fn now(self) -> DateTime<Utc> {
        Utc::now() + self.ahead
    }

    fn body(self, number: u64) -> String {
        let at = self.now().format("%Y-%m-%dT%H:%M:%SZ");
        let mut body = String::with_capacity(60_000);
        body.push('[');
        for item in 0..self.items {
            let draw = draw(number * self.items + item + (self.round << 32));
            let (uid, total) = (1 + draw % self.users, self.round * 10_000 + (draw >> 40) % 10_000);
            let end = if item == 0 { "" } else { "," };
            // writing into a string cannot fail
            let _ = write!(body, r#"{end}{{"uid":{uid},"at":"{at}","total":{total},"source":"watch"}}"#);
        }
        body.push(']');
        body
    }
}

async fn checked(answer: reqwest::Response) -> anyhow::Result<()> {
    let status = answer.status();
    let text = answer.text().await?;
    let sound = status.is_success() && !text.contains("\"status\":\"refused\"");
    ensure!(sound, "{status}: {}", text.get(..300).unwrap_or(&text));
    Ok(())
}

fn draw(number: u64) -> u64 {
    xxh3_64(&number.to_le_bytes())
}

fn slowest(mut took: Vec<Duration>) -> anyhow::Result<f64> {
    took.sort_unstable();
    let place = (took.len() * 99 / 100).min(took.len().saturating_sub(1));
    Ok(took.get(place).context("nothing was called")?.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_a_hundred_is_taken() {
        let took = (1..=200).map(Duration::from_millis).collect();
        assert_eq!(slowest(took).unwrap(), 199.0);
        assert!(slowest(Vec::new()).is_err());
    }
}
