//! How an operator command reaches the stores: through the running program's ops API, or, when nothing runs, through the
//! same API over the file it opens itself. Stores that are shared need no running program.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, Response, StatusCode, header},
};
use config::Config;
use plumbing::{Clock, File, FileError};
use prometheus_client::registry::Registry;
use secrecy::ExposeSecret;
use serde_json::Value;
use tokio::net::TcpStream;
use tower::ServiceExt;

use crate::{
    ops::{self, OpsState},
    program::{Program, RETRY, data_file},
};

/// A way to the ops API.
pub(crate) enum Access {
    /// Of the program that runs.
    Running { client: reqwest::Client, address: String, key: String },
    /// Over stores that this process may use itself: the file, which nobody else has open, or those that are shared.
    Own(Router),
}

/// Where a running program notes its ops address, in the data folder; gone when it ended in good order.
pub(crate) const ADDRESS_FILE: &str = "ops.addr";
/// How long a locked file is waited for while no ops API answers.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most bytes of an answer.
const MOST_ANSWER: usize = 64 << 20;

impl Access {
    /// Opens the file, which must be there, or, where it is locked, finds the program that has it.
    pub(crate) async fn open(config: Config) -> anyhow::Result<Self> {
        if config.shares_stores() {
            return Self::open_or_make(config).await;
        }
        let path = data_file(&config);
        if !path.exists() {
            bail!("{}: there is no data file; set `data`, or start `stepcast run` first", path.display());
        }
        Self::open_or_make(config).await
    }

    /// The same, but makes a file that is not there. A file that is locked while no ops API answers is another short
    /// command's: it is waited for.
    pub(crate) async fn open_or_make(config: Config) -> anyhow::Result<Self> {
        if config.shares_stores() {
            return Ok(Self::within(Program::shared(config, Clock::system())?));
        }
        let (path, began) = (data_file(&config), Instant::now());
        loop {
            let locked = match File::open(&path) {
                Ok(file) => return Ok(Self::within(Program::over(file, config, Clock::system()).await?)),
                Err(error @ FileError::Locked(_)) => error,
                Err(error) => return Err(error.into()),
            };
            let noted = std::fs::read_to_string(config.data.join(ADDRESS_FILE));
            let address = noted.map_or_else(|_| config.ops.listen.to_string(), |a| a.trim().to_owned());
            if began.elapsed() >= PATIENCE || answers(&address).await {
                return Self::running(&config.data, config.ops.key_file.as_deref(), address, &locked);
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// A program that does nothing but answer.
    fn within(program: Program) -> Self {
        let state = OpsState::of(&program, None, Registry::default());
        // the real clock is this process's own: there is no program whose clock could be moved
        Self::Own(ops::router(Arc::new(OpsState { rehearsal: false, ..state })))
    }

    fn running(
        data: &Path,
        key_file: Option<&Path>,
        address: String,
        locked: &FileError,
    ) -> anyhow::Result<Self> {
        let key = config::read_ops_key(data, key_file)
            .with_context(|| format!("{locked}, so its ops API is wanted"))?;
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60)).build()?;
        Ok(Self::Running { client, address, key: key.secret.expose_secret().to_owned() })
    }

    /// `GET` of a path with its query.
    pub(crate) async fn get(&self, path: &str, query: &[(&str, String)]) -> anyhow::Result<Value> {
        let query: Vec<_> = query.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        let path = if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) };
        self.ask("GET", &path, Vec::new()).await
    }

    /// `POST` of a body.
    pub(crate) async fn post(&self, path: &str, body: Vec<u8>) -> anyhow::Result<Value> {
        self.ask("POST", path, body).await
    }

    /// `POST` of a JSON value.
    pub(crate) async fn post_json(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.ask("POST", path, body.to_string().into_bytes()).await
    }

    /// `GET` of an answer that is bytes.
    pub(crate) async fn get_bytes(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        let (status, bytes) = self.answer("GET", path, Vec::new()).await?;
        if status.is_success() { Ok(bytes) } else { Err(refusal(status, &bytes)) }
    }

    async fn ask(&self, method: &str, path: &str, body: Vec<u8>) -> anyhow::Result<Value> {
        let (status, bytes) = self.answer(method, path, body).await?;
        match serde_json::from_slice(&bytes) {
            Ok(value) if status.is_success() => Ok(value),
            _ => Err(refusal(status, &bytes)),
        }
    }

    async fn answer(&self, method: &str, path: &str, body: Vec<u8>) -> anyhow::Result<(StatusCode, Vec<u8>)> {
        let (status, bytes) = match self {
            Self::Own(router) => {
                let request = Request::builder().method(method).uri(path);
                let request =
                    request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body))?;
                let answer: Response<Body> = match router.clone().oneshot(request).await {
                    Ok(answer) => answer,
                    Err(never) => match never {},
                };
                (answer.status(), to_bytes(answer.into_body(), MOST_ANSWER).await?.to_vec())
            }
            Self::Running { client, address, key } => {
                let request = client.request(method.parse()?, format!("http://{address}{path}"));
                let request = request
                    .header(header::AUTHORIZATION, format!("Bearer {key}"))
                    .header(header::CONTENT_TYPE, "application/json")
                    .body(body);
                let answer = request.send().await.with_context(|| {
                    format!("the data file is locked by a running stepcast, but its ops API at {address} does not answer")
                })?;
                (answer.status(), answer.bytes().await?.to_vec())
            }
        };
        if status == StatusCode::UNAUTHORIZED {
            bail!(
                "the ops key of this configuration (ops.key_file, or ops.key in the data folder) is not the running program's"
            );
        }
        Ok((status, bytes))
    }
}

/// What an answer says that is not the one asked for.
fn refusal(status: StatusCode, bytes: &[u8]) -> anyhow::Error {
    let value: Option<Value> = serde_json::from_slice(bytes).ok();
    match value.as_ref().and_then(|value| value["message"].as_str()) {
        Some(message) => anyhow::anyhow!("{message}"),
        None => {
            let text = String::from_utf8_lossy(bytes);
            anyhow::anyhow!("{status}: {}", text.chars().take(300).collect::<String>())
        }
    }
}

/// Whether somebody listens at the address: one that was left by a program that was killed is nobody's.
async fn answers(address: &str) -> bool {
    let connected = tokio::time::timeout(Duration::from_secs(1), TcpStream::connect(address)).await;
    matches!(connected, Ok(Ok(_)))
}

fn escaped(value: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/:".contains(&b);
    value.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_that_another_command_has_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::load(None, []).unwrap();
        config.data = folder.path().to_owned();
        // of a program that was killed: nobody listens there
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        std::fs::write(folder.path().join(ADDRESS_FILE), format!("{gone}\n")).unwrap();
        let held = File::open(&data_file(&config)).unwrap();
        let mut opening = Box::pin(Access::open(config));
        assert!(futures_util::poll!(opening.as_mut()).is_pending());
        drop(held);
        let access = opening.await.unwrap();
        assert!(matches!(access, Access::Own(_)));
        assert_eq!(access.get("/ops/v1/dead", &[]).await.unwrap()["dead"], serde_json::json!([]));
    }

    #[tokio::test]
    async fn a_file_of_a_running_program_is_asked_for_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::load(None, []).unwrap();
        config.data = folder.path().to_owned();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let there = listener.local_addr().unwrap().to_string();
        std::fs::write(folder.path().join(ADDRESS_FILE), format!("{there}\n")).unwrap();
        config::ops_key(&config.data, None).unwrap();
        let _held = File::open(&data_file(&config)).unwrap();
        let access = Access::open(config).await.unwrap();
        assert!(matches!(access, Access::Running { address, .. } if address == there));
    }
}
