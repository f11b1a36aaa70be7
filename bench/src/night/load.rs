use std::{path::Path, process::Command};

use anyhow::{Context, bail};

use crate::receiver::{Pushed, Receiver};

/// Posts as many pushes as there are users with h2load, over HTTP/2 with 4 connections and 100 streams each, and answers how
/// many a second; `None` where it is not installed (Debian: nghttp2-client).
pub(super) fn run(
    folder: &Path,
    receiver: &Receiver,
    pushed: &[Pushed],
    users: u64,
) -> anyhow::Result<Option<f64>> {
    let push = pushed.first().context("the receiver kept no push")?;
    let body = folder.join("push.json");
    std::fs::write(&body, &push.body)?;
    let mut command = Command::new("h2load");
    command.args(["-n", &users.to_string(), "-c", "4", "-m", "100", "-t", "1", "-d"]).arg(body);
    for (name, value) in [
        ("content-type", "application/json"),
        ("idempotency-key", &push.identity),
        ("webhook-id", &push.identity),
        ("webhook-timestamp", "1780862400"),
        ("webhook-signature", &push.signature),
    ] {
        command.args(["-H", &format!("{name}: {value}")]);
    }
    let done = match command.arg(receiver.url()).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        done => done.context("h2load")?,
    };
    let told = String::from_utf8_lossy(&done.stdout);
    if !done.status.success() || !told.contains(&format!(" {users} succeeded, 0 failed")) {
        bail!("h2load: {}\n{told}", done.status);
    }
    rate(&told).with_context(|| format!("h2load told no rate\n{told}")).map(Some)
}

/// `finished in 3.28s, 60975.61 req/s, 1.9MB/s`
fn rate(told: &str) -> Option<f64> {
    let line = told.lines().find_map(|line| line.strip_prefix("finished in "))?;
    line.split(", ").nth(1)?.strip_suffix(" req/s")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_the_second_figure() {
        let told = "progress: 100% done\n\nfinished in 3.28s, 60975.61 req/s, 1.92MB/s\nrequests: 5 total";
        assert_eq!(rate(told), Some(60_975.61));
        assert_eq!(rate("finished in 3.28s"), None);
    }
}
