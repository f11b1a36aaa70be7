//! The local server that takes pushes, as a process of its own.

mod secure;
mod serve;

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

pub(crate) use self::serve::serve;
use crate::{certificate::Certificate, daemon::Daemon};

/// The running server.
pub(crate) struct Receiver {
    daemon: Daemon,
    client: reqwest::Client,
    url: String,
    certificate: Option<PathBuf>,
    _folder: TempDir,
}

/// What came since the start or the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct Received {
    /// Pushes.
    pub(crate) pushes: u64,
    /// Different `Idempotency-Key`s among them.
    pub(crate) different: u64,
    /// Seconds from the first to the last.
    pub(crate) seconds: f64,
}

/// A push as it came.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub(crate) struct Pushed {
    /// `Idempotency-Key`.
    pub(crate) identity: String,
    /// `webhook-signature`.
    pub(crate) signature: String,
    /// The payload.
    pub(crate) body: String,
}

impl Received {
    /// Pushes a second, the first not counted.
    pub(crate) fn rate(&self) -> f64 {
        crate::figures::rate(self.pushes.saturating_sub(1), self.seconds)
    }
}

/// Where the sample is told, below the address of pushes.
const SAMPLE: &str = "sample";
/// How long it may take to start.
const STARTING: Duration = Duration::from_secs(10);
/// Between two looks, and between two when nearly all came, so that the end is seen when it is there.
const POLL: Duration = Duration::from_millis(50);
const NEAR: Duration = Duration::from_millis(5);

impl Receiver {
    /// Starts it, with its notes in a folder of its own inside `folder`; under TLS or in clear.
    pub(crate) async fn start(folder: &Path, secure: bool) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("receiver-").tempdir_in(folder)?;
        let certificate = if secure { Some(Certificate::make(folder.path())?.file) } else { None };
        let noted = folder.path().join("receiver.addr");
        let mut command = Command::new(std::env::current_exe()?);
        // it ends with its input, so with this process, however that ends
        command.arg("--receive").arg(&noted).env_clear().stdin(Stdio::piped());
        let mut daemon = Daemon::start("the receiver", &mut command, folder.path().join("receiver.log"))?;
        let until = Instant::now() + STARTING;
        let address = loop {
            daemon.check()?;
            match std::fs::read_to_string(&noted) {
                Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
                _ if Instant::now() > until => bail!("the receiver did not start within {STARTING:?}"),
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        };
        let client = trusting(reqwest::Client::builder(), certificate.as_deref())?;
        let client = client.no_proxy().timeout(Duration::from_secs(10)).build()?;
        let url = format!("{}://{address}/push", if secure { "https" } else { "http" });
        Ok(Self { daemon, client, url, certificate, _folder: folder })
    }

    /// What a client has to trust, if anything.
    pub(crate) fn certificate(&self) -> Option<&Path> {
        self.certificate.as_deref()
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.daemon.pid()
    }

    /// Where pushes go.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What came.
    pub(crate) async fn received(&self) -> anyhow::Result<Received> {
        let text = self.client.get(&self.url).send().await?.error_for_status()?.text().await?;
        serde_json::from_str(&text).context("the receiver's figures")
    }

    /// The first of them, at most a thousand.
    pub(crate) async fn sample(&self) -> anyhow::Result<Vec<Pushed>> {
        let answer = self.client.get(format!("{}/{SAMPLE}", self.url)).send().await?;
        serde_json::from_str(&answer.error_for_status()?.text().await?).context("the receiver's sample")
    }

    /// Begins again at none.
    pub(crate) async fn reset(&self) -> anyhow::Result<()> {
        self.client.delete(&self.url).send().await?.error_for_status()?;
        Ok(())
    }

    /// Waits until `pushes` came; fails once none comes for `patience`, or where `check` does.
    pub(crate) async fn until(
        &self,
        pushes: u64,
        patience: Duration,
        mut check: impl FnMut() -> anyhow::Result<()>,
    ) -> anyhow::Result<Received> {
        let (mut last, mut moved) = (Received::default(), Instant::now());
        loop {
            check()?;
            let received = self.received().await?;
            if received.pushes >= pushes {
                return Ok(received);
            }
            if received.pushes != last.pushes {
                (last, moved) = (received, Instant::now());
            }
            if moved.elapsed() > patience {
                bail!("only {} of {pushes} pushes came, none for {patience:?}", last.pushes);
            }
            let near = received.pushes >= pushes - pushes / 20;
            tokio::time::sleep(if near { NEAR } else { POLL }).await;
        }
    }
}

/// A client that trusts this certificate as well.
pub(crate) fn trusting(
    client: reqwest::ClientBuilder,
    certificate: Option<&Path>,
) -> anyhow::Result<reqwest::ClientBuilder> {
    let Some(file) = certificate else { return Ok(client) };
    let pem = std::fs::read(file).with_context(|| file.display().to_string())?;
    Ok(client.tls_certs_merge([reqwest::Certificate::from_pem(&pem)?]))
}
