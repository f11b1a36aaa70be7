use std::{net::IpAddr, path::PathBuf, time::Duration};

use async_trait::async_trait;
use chrono::Utc;
use plumbing::Span;
use reqwest::{
    Client, ClientBuilder, Method, Request, Response, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{
    Channel, Fault, Push, SetupError,
    answer::{judge, judge_failure},
    http2::not_taken,
    private_address::{is_local_name, is_private},
    public_resolver::PublicResolver,
    rfc3339::whole_seconds,
    signature::Signer,
    telling::Telling,
};

/// Settings of a webhook.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct WebhookSettings {
    /// Where pushes are posted, `https://` or `http://`.
    pub url: String,
    /// File with the signing secret, `whsec_` and base64 of 24 to 64 bytes. The configuration reads it into `secret`.
    pub secret_file: Option<PathBuf>,
    /// The signing secret itself; better from the environment than from a file that is shared.
    #[serde(skip_serializing)]
    pub secret: Option<secrecy::SecretString>,
    /// Time limit of a push, `100ms` to `5m`.
    #[serde(default = "fifteen_seconds")]
    pub timeout: Span,
    /// Whether an address in a private, loopback or link-local range may be reached.
    #[serde(default)]
    pub allow_private: bool,
}

fn fifteen_seconds() -> Span {
    Span::seconds(15)
}

/// Connections kept for the next push when none is in flight; HTTP/2 needs one.
const MOST_IDLE: usize = 512;

/// Idle connections are given up before the usual server does, or a push would meet one that is just being closed.
const IDLE_TIME: Duration = Duration::from_secs(20);

type Answer = Result<Response, reqwest::Error>;

/// The longest a connection may take to be made. It is also at most half the time limit, so that what never left is
/// known as such.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// Posts JSON to an address of the app's: one request a device, signed after Standard Webhooks when there is a secret.
///
/// Headers: `Idempotency-Key` and `webhook-id` (the push's key, the same at every try), `webhook-timestamp` (Unix
/// seconds of this try), `webhook-signature` (`v1,` and base64). HTTP/2 where the server offers it under TLS, else
/// HTTP/1.1. A stream that the server refuses is posted again at once, once. Redirects are not followed, proxies of
/// the environment not used.
#[derive(Debug)]
pub struct Webhook {
    client: Client,
    url: Url,
    signer: Option<Signer>,
    telling: Telling,
    limit: Duration,
}

impl Webhook {
    /// A webhook. It connects to nobody yet.
    ///
    /// # Errors
    /// Names the setting: `url` (none, other than http or https, with a user or password, private although that is not
    /// allowed), `timeout`, `secret` (not one).
    pub fn new(settings: &WebhookSettings) -> Result<Self, SetupError> {
        let (url, signer) = (settings.address()?, settings.signer()?);
        let telling = Telling::new(url.host_str().unwrap_or_default());
        let client = settings.client()?.build();
        let client =
            client.map_err(|e| SetupError::new("url", format!("no HTTP client can be made: {e}")))?;
        Ok(Self { client, url, signer, telling, limit: settings.time_limit()? })
    }
}

#[async_trait]
impl Channel for Webhook {
    async fn push(&self, push: &Push<'_>) -> Result<(), Fault> {
        let begun = Instant::now();
        let mut answer = self.client.execute(self.request(push)?).await;
        if let Err(error) = &answer
            && not_taken(error)
            && let Some(left) = self.limit.checked_sub(begun.elapsed())
        {
            // apart: few pushes need it, and the others should not carry it
            answer = Box::pin(self.again(push, left)).await?;
        }
        match answer {
            Ok(response) => {
                let status = response.status();
                let end = judge(response, Utc::now).await;
                if end.is_err() {
                    self.telling.tell(status.as_str());
                }
                end
            }
            Err(error) => {
                let fault = judge_failure(&error);
                self.telling.tell(match fault {
                    Fault::Retry { .. } => "not taken",
                    Fault::NoAnswer => "no answer",
                    _ => "not sent",
                });
                Err(fault)
            }
        }
    }

    fn longest(&self) -> Duration {
        self.limit
    }
}

impl Webhook {
    /// Posts what was not taken once more, within what is left of the push's time limit. Once only: a server that refuses much is not
    /// to get many times what its quota says, and the ladder has the rest.
    async fn again(&self, push: &Push<'_>, left: Duration) -> Result<Answer, Fault> {
        let mut request = self.request(push)?;
        *request.timeout_mut() = Some(left);
        Ok(self.client.execute(request).await)
    }

    fn request(&self, push: &Push<'_>) -> Result<Request, Fault> {
        let mut digits = itoa::Buffer::new();
        let body = Payload::of(push, digits.format(push.identity.uid.0)).encode()?;
        let timestamp = unix_seconds();
        let id = HeaderValue::from_str(push.key).map_err(|_| not_made())?;
        let mut request = Request::new(Method::POST, self.url.clone());
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(KEY, id.clone());
        headers.insert(ID, id);
        headers.insert(TIMESTAMP, timestamp.into());
        if let Some(signer) = &self.signer {
            let signature = signer.sign(push.key, timestamp, &body);
            headers.insert(SIGNATURE, signature.try_into().map_err(|_| not_made())?);
        }
        *request.headers_mut() = headers;
        *request.body_mut() = Some(body.into());
        Ok(request)
    }
}

/// Of the clock that receivers have: the one of the program may be shifted.
fn unix_seconds() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

fn not_made() -> Fault {
    Fault::Refused { detail: "the request could not be made".into() }
}

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// Bytes that hold most payloads, so that few have to grow.
const LIKELY: usize = 512;

/// What is posted: `{"id":"nightly.20260607.1001","campaign":"nightly","day":"20260607","uid":"1001","device":"...",
/// "language":"en","title":"...","body":"...","steps":8350,"deadline":"2026-06-07T22:00:00Z"}`. The uid is text: JSON
/// numbers lose digits above 2^53 in many readers.
#[derive(Serialize)]
struct Payload<'a> {
    id: &'a str,
    campaign: &'a str,
    day: domain::Day,
    uid: &'a str,
    device: &'a str,
    language: &'a str,
    title: &'a str,
    body: &'a str,
    steps: u32,
    #[serde(serialize_with = "whole_seconds")]
    deadline: domain::Instant,
}

impl<'a> Payload<'a> {
    fn of(push: &Push<'a>, uid: &'a str) -> Self {
        Self {
            id: push.key,
            campaign: push.identity.campaign.as_str(),
            day: push.identity.day,
            uid,
            device: push.address,
            language: push.language.as_str(),
            title: push.title,
            body: push.body,
            steps: push.steps,
            deadline: push.deadline,
        }
    }

    fn encode(&self) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::with_capacity(LIKELY);
        serde_json::to_writer(&mut bytes, self).map_err(|_| not_made())?;
        Ok(bytes)
    }
}

impl WebhookSettings {
    pub(super) fn faults(&self) -> Vec<SetupError> {
        [self.address().err(), self.time_limit().err(), self.signer().err()].into_iter().flatten().collect()
    }

    /// The address. Its host, when it is an address itself, is checked here once and for all: the resolver is not asked
    /// about it, and no redirect leads elsewhere.
    fn address(&self) -> Result<Url, SetupError> {
        let fault = |problem: &str| SetupError::new("url", problem);
        let url = Url::parse(&self.url).map_err(|e| fault(&e.to_string()))?;
        let host = match (url.scheme(), url.host_str()) {
            ("http" | "https", Some(host)) => host.trim_start_matches('[').trim_end_matches(']'),
            _ => return Err(fault("an address such as https://push.example.com/in is wanted")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(fault("no user or password is wanted in it; pushes are signed with `secret`"));
        }
        let private = is_local_name(host) || host.parse::<IpAddr>().is_ok_and(is_private);
        if private && !self.allow_private {
            return Err(fault("the host is private; `allow_private = true` lets it be reached"));
        }
        Ok(url)
    }

    fn time_limit(&self) -> Result<Duration, SetupError> {
        let limit = self.timeout.0;
        if (Duration::from_millis(100)..=Duration::from_secs(300)).contains(&limit) {
            return Ok(limit);
        }
        Err(SetupError::new("timeout", format!("100ms to 5m is wanted, not {}", self.timeout)))
    }

    /// `secret_file` is read by the configuration, which puts what it holds into `secret`.
    fn signer(&self) -> Result<Option<Signer>, SetupError> {
        let signer = self.secret.as_ref().map(|secret| Signer::from_secret(secret.expose_secret()));
        signer.transpose().map_err(|problem| SetupError::new("secret", problem))
    }

    fn client(&self) -> Result<ClientBuilder, SetupError> {
        let limit = self.time_limit()?;
        let mut builder = Client::builder()
            // the library would keep a copy of every request; see `Webhook::again`
            .retry(reqwest::retry::never().max_retries_per_request(0))
            .user_agent(concat!("stepcast/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .timeout(limit)
            .connect_timeout(CONNECT_TIME.min(limit / 2))
            .pool_max_idle_per_host(MOST_IDLE)
            .pool_idle_timeout(IDLE_TIME)
            // a dead HTTP/2 connection would otherwise take every push on it to its time limit
            .http2_keep_alive_interval(IDLE_TIME)
            .http2_keep_alive_timeout(CONNECT_TIME);
        if !self.allow_private {
            builder = builder.dns_resolver(PublicResolver);
        }
        Ok(builder)
    }
}

#[cfg(test)]
mod tests;
