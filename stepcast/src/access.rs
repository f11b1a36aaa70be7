//! How an operator command reaches the stores: through the running program's ops API, or, when nothing runs, through the
//! same API over the file it opens itself.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, bail};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, Response, header},
};
use config::Config;
use plumbing::{Clock, FileError};
use prometheus_client::registry::Registry;
use secrecy::ExposeSecret;
use serde_json::Value;
use tower::ServiceExt;

use crate::{
    ops::{self, OpsState},
    program::{Program, data_file},
};

/// A way to the ops API.
pub(crate) enum Access {
    /// Of the program that runs.
    Running { client: reqwest::Client, address: String, key: String },
    /// Over the file, which nobody else has open.
    File(Router),
}

/// Where a running program notes its ops address, in the data folder.
pub(crate) const ADDRESS_FILE: &str = "ops.addr";
/// The most bytes of an answer.
const MOST_ANSWER: usize = 64 << 20;

impl Access {
    /// Opens the file, which must be there, or, where it is locked, finds the program that has it.
    pub(crate) async fn open(config: Config) -> anyhow::Result<Self> {
        let path = data_file(&config);
        if !path.exists() {
            bail!("{}: there is no data file; set `data`, or start `stepcast run` first", path.display());
        }
        Self::open_or_make(config).await
    }

    /// The same, but makes a file that is not there.
    pub(crate) async fn open_or_make(config: Config) -> anyhow::Result<Self> {
        let (data, key_file, listen) = (config.data.clone(), config.ops.key_file.clone(), config.ops.listen);
        match Program::open(config, Clock::system()).await {
            Ok(program) => Ok(Self::File(ops::router(Arc::new(OpsState {
                clock: Arc::clone(&program.clock),
                parts: program.parts,
                rehearsal: false,
                registry: Registry::default(),
            })))),
            Err(error) if matches!(error.downcast_ref(), Some(FileError::Locked(_))) => {
                let noted = std::fs::read_to_string(data.join(ADDRESS_FILE));
                let address = noted.map_or_else(|_| listen.to_string(), |a| a.trim().to_owned());
                let key = config::read_ops_key(&data, key_file.as_deref())
                    .with_context(|| format!("{error}, so its ops API is wanted"))?;
                let client =
                    reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60)).build()?;
                Ok(Self::Running { client, address, key: key.secret.expose_secret().to_owned() })
            }
            Err(error) => Err(error),
        }
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

    async fn ask(&self, method: &str, path: &str, body: Vec<u8>) -> anyhow::Result<Value> {
        let (status, bytes) = match self {
            Self::File(router) => {
                let request = Request::builder().method(method).uri(path).body(Body::from(body))?;
                let answer: Response<Body> = match router.clone().oneshot(request).await {
                    Ok(answer) => answer,
                    Err(never) => match never {},
                };
                (answer.status(), to_bytes(answer.into_body(), MOST_ANSWER).await?.to_vec())
            }
            Self::Running { client, address, key } => {
                let request = client.request(method.parse()?, format!("http://{address}{path}"));
                let request = request.header(header::AUTHORIZATION, format!("Bearer {key}")).body(body);
                let answer = request.send().await.with_context(|| {
                    format!("the data file is locked by a running stepcast, but its ops API at {address} does not answer")
                })?;
                (answer.status(), answer.bytes().await?.to_vec())
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        let value: Option<Value> = serde_json::from_slice(&bytes).ok();
        match value {
            Some(value) if status.is_success() => Ok(value),
            Some(value) if value["message"].is_string() => {
                bail!("{}", value["message"].as_str().unwrap_or_default())
            }
            _ => bail!("{status}: {}", text.chars().take(300).collect::<String>()),
        }
    }
}

fn escaped(value: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/:".contains(&b);
    value.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
