use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::json;

use crate::{daemon::Daemon, program::Home};

/// The ops API of a running program.
pub(crate) struct Ops {
    client: reqwest::Client,
    address: String,
    key: String,
}

/// The terms of a night's sums that a bench looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Sums {
    pub(crate) due: u64,
    pub(crate) delivered: u64,
    pub(crate) open: u64,
    pub(crate) unknown: i64,
    pub(crate) duplicates: u64,
}

impl Sums {
    /// Those of a night that delivered to everybody, once.
    pub(crate) fn whole(users: u64) -> Self {
        Self { due: users, delivered: users, ..Self::default() }
    }
}

/// How long a program may take to answer after its start.
const STARTING: Duration = Duration::from_secs(30);

impl Ops {
    /// Waits until the program that was started in `home` answers.
    pub(crate) async fn reach(home: &Home, daemon: &mut Daemon) -> anyhow::Result<Self> {
        let until = Instant::now() + STARTING;
        loop {
            daemon.check()?;
            if let Some(ops) = Self::noted(&home.data())
                && ops.client.get(format!("http://{}/livez", ops.address)).send().await.is_ok()
            {
                return Ok(ops);
            }
            if Instant::now() > until {
                bail!("the ops API did not answer within {STARTING:?}\n{}", daemon.last_lines());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// The API whose address and key a program has noted in its data folder.
    fn noted(data: &Path) -> Option<Self> {
        let read = |name| fs::read_to_string(data.join(name)).ok();
        let (address, key) = (read("ops.addr")?, read("ops.key")?);
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().ok()?;
        Some(Self { client, address: address.trim().to_owned(), key: key.trim().to_owned() })
    }

    /// The sums of a night; `None` where nothing of it is sealed.
    pub(crate) async fn night(&self, campaign: &str, day: &str) -> anyhow::Result<Option<Sums>> {
        let path = format!("/ops/v1/night?campaign={campaign}&day={day}");
        let answer = self.send(reqwest::Method::GET, &path, String::new()).await?;
        if answer.status() == reqwest::StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let text = answer.error_for_status()?.text().await?;
        Ok(Some(serde_json::from_str(&text).with_context(|| format!("{path}: {text}"))?))
    }

    /// Moves the program's clock.
    pub(crate) async fn move_clock(&self, to: DateTime<Utc>) -> anyhow::Result<()> {
        let answer =
            self.send(reqwest::Method::POST, "/ops/v1/clock", json!({ "to": to }).to_string()).await?;
        answer.error_for_status()?;
        Ok(())
    }

    async fn send(
        &self,
        method: reqwest::Method,
        path: &str,
        body: String,
    ) -> anyhow::Result<reqwest::Response> {
        let request =
            self.client.request(method, format!("http://{}{path}", self.address)).bearer_auth(&self.key);
        let request = request.header(reqwest::header::CONTENT_TYPE, "application/json").body(body);
        request.send().await.with_context(|| path.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_read_among_other_terms() {
        let text =
            r#"{"due":5,"delivered":3,"suppressed":1,"open":1,"unknown":-1,"duplicates":2,"lines":[]}"#;
        let sums: Sums = serde_json::from_str(text).unwrap();
        assert_eq!(sums, Sums { due: 5, delivered: 3, open: 1, unknown: -1, duplicates: 2 });
        assert!(serde_json::from_str::<Sums>(r#"{"due":5}"#).is_err());
    }

    #[test]
    fn nothing_is_noted_before_the_start() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Ops::noted(folder.path()).is_none());
        fs::write(folder.path().join("ops.addr"), "127.0.0.1:7022\n").unwrap();
        fs::write(folder.path().join("ops.key"), "secret\n").unwrap();
        let ops = Ops::noted(folder.path()).unwrap();
        assert_eq!((ops.address.as_str(), ops.key.as_str()), ("127.0.0.1:7022", "secret"));
    }
}
