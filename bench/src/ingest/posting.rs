use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use futures_util::future::try_join_all;

use crate::{daemon::Daemon, program::Home};

/// Batches under way at once.
const AT_ONCE: usize = 16;
/// How long a daemon may take to start.
const STARTING: Duration = Duration::from_secs(30);

/// Waits until the daemon takes reports, and answers where.
pub(super) async fn ready(home: &Home, daemon: &mut Daemon) -> anyhow::Result<String> {
    let begun = Instant::now();
    while begun.elapsed() < STARTING {
        daemon.check()?;
        if let Ok(address) = std::fs::read_to_string(home.data().join("ingest.addr")) {
            let url = format!("http://{}", address.trim());
            if reqwest::get(format!("{url}/livez")).await.is_ok_and(|answer| answer.status().is_success()) {
                return Ok(url);
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    anyhow::bail!("ingest does not answer\n{}", daemon.last_lines())
}

/// Posts all batches, and answers the seconds it took. Each report must be answered as stored, or as a repeat where a user was drawn
/// twice.
pub(super) async fn post(url: &str, key: &str, bodies: Vec<String>) -> anyhow::Result<f64> {
    let (bodies, next) = (Arc::new(bodies), Arc::new(AtomicUsize::new(0)));
    let client = reqwest::Client::builder().no_proxy().build()?;
    let begun = Instant::now();
    let callers = (0..AT_ONCE).map(|_| {
        let (bodies, next, client) = (Arc::clone(&bodies), Arc::clone(&next), client.clone());
        let (url, key) = (format!("{url}/v1/reports"), key.to_owned());
        tokio::spawn(async move {
            while let Some(body) = bodies.get(next.fetch_add(1, Ordering::Relaxed)) {
                let request = client.post(&url).bearer_auth(&key).header("content-type", "application/json");
                let answer = request.body(body.clone()).send().await?;
                let status = answer.status();
                let text = answer.text().await?;
                let none = text.ends_with("\"refused\":0}");
                ensure!(status.is_success() && none, "{status}: {}", text.get(..300).unwrap_or(&text));
            }
            anyhow::Ok(())
        })
    });
    for ended in try_join_all(callers).await.context("a caller ended")? {
        ended?;
    }
    Ok(begun.elapsed().as_secs_f64())
}
