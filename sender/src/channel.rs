//! Ways to a phone. Each provider is a folder or file of the same shape behind [`Channel`].

mod answer;
mod http2;
mod private_address;
mod public_resolver;
mod quota;
mod retry_after;
mod rfc3339;
mod signature;
mod stub;
mod telling;
mod webhook;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use domain::{Identity, Instant, Language};
pub use quota::Quota;
use serde::{Deserialize, Serialize};
pub use stub::{Stub, StubSettings};
pub use webhook::{Webhook, WebhookSettings};

/// A provider of pushes: stub, webhook, and the phone makers' services.
#[async_trait]
pub trait Channel: Send + Sync {
    /// Pushes to one device, in the time limit of the channel.
    async fn push(&self, push: &Push<'_>) -> Result<(), Fault>;

    /// How long a push takes at most, that is, for how long one that has begun may count as in flight at the provider.
    fn longest(&self) -> Duration;
}

/// One push to one device.
#[derive(Clone, Debug)]
pub struct Push<'a> {
    /// Message id, idempotency key and collapse id.
    pub identity: &'a Identity,
    /// The identity as text; of all devices of a user but the one that was registered first with a mark of the device
    /// behind it, so that a receiver that keeps to the key does not take them for repeats.
    pub key: &'a str,
    /// Token or address of the device. A secret: never logged.
    pub address: &'a str,
    /// The language of the text.
    pub language: &'a Language,
    /// The title as rendered.
    pub title: &'a str,
    /// The text as rendered.
    pub body: &'a str,
    /// The user's steps in it.
    pub steps: u32,
    /// Past this the provider need not deliver it.
    pub deadline: Instant,
}

/// Makes the channel that the settings describe. Reads the signing secret's file, if one is named; calls nobody.
///
/// # Errors
/// The first of [`ChannelSettings::faults`].
pub fn build(settings: &ChannelSettings) -> Result<Arc<dyn Channel>, SetupError> {
    if let Some(fault) = settings.faults().into_iter().next() {
        return Err(fault);
    }
    Ok(match &settings.kind {
        Kind::Stub(stub) => Arc::new(Stub::new(stub.clone())),
        Kind::Webhook(webhook) => Arc::new(Webhook::new(webhook)?),
    })
}

/// Why a channel cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct SetupError {
    /// The setting at fault, as it is spelled under `[channels.NAME]`.
    pub setting: &'static str,
    /// What is wrong with it, without secrets.
    pub problem: String,
}

impl SetupError {
    fn new(setting: &'static str, problem: impl Into<String>) -> Self {
        Self { setting, problem: problem.into() }
    }
}

/// Why a push was not accepted, as a decision for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Try again, not before the wait the provider asked for. `maybe`: it may have been taken.
    Retry {
        /// What the provider asked for.
        after: Option<Duration>,
        /// Whether the provider may have taken the push.
        maybe: bool,
    },
    /// Sent, and no answer came: one more try under the same identity, then final.
    NoAnswer,
    /// Slow the whole channel for so long; not an attempt.
    Throttled {
        /// What the provider asked for.
        after: Option<Duration>,
    },
    /// The device is gone since then: drop it.
    DeviceGone {
        /// Since when.
        since: Instant,
    },
    /// This push will never be accepted.
    Refused {
        /// A short reason without secrets.
        detail: String,
    },
    /// Nothing will be accepted on this channel as it is set up (key, address): stop it and ring.
    Stopped {
        /// A short reason without secrets.
        detail: String,
    },
}

/// Settings of one channel, section `[channels.NAME]`: its kind with that kind's settings, and its provider's quota.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ChannelSettings {
    /// The provider and its settings.
    #[serde(flatten)]
    pub kind: Kind,
    /// The provider's quota.
    #[serde(default)]
    pub quota: Quota,
}

impl ChannelSettings {
    /// Everything that is wrong with them, so that a start can name all of it at once; empty when [`build`] will do.
    pub fn faults(&self) -> Vec<SetupError> {
        let mut faults = match &self.kind {
            Kind::Stub(stub) => stub.faults(),
            Kind::Webhook(webhook) => webhook.faults(),
        };
        if self.quota.in_flight.is_some_and(|n| n.get() > MOST_IN_FLIGHT) {
            faults.push(SetupError::new("quota.in_flight", "1 to 100000 is wanted"));
        }
        faults
    }
}

const MOST_IN_FLIGHT: u32 = 100_000;

/// The kinds of channels.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Kind {
    /// Pushes to nobody; for trials, tests and benches.
    Stub(StubSettings),
    /// Posts JSON to an address of the app's.
    Webhook(WebhookSettings),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(json: serde_json::Value) -> ChannelSettings {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn each_kind_is_built_from_its_settings() {
        assert!(build(&settings(serde_json::json!({"kind": "stub"}))).is_ok());
        let webhook = serde_json::json!({"kind": "webhook", "url": "https://push.example.com/in"});
        assert!(build(&settings(webhook)).is_ok());
        let nowhere = build(&settings(serde_json::json!({"kind": "webhook", "url": "here"}))).err().unwrap();
        assert_eq!(nowhere.setting, "url");
    }

    #[test]
    fn every_fault_is_named_at_once() {
        let bad = settings(serde_json::json!({
            "kind": "webhook", "url": "ftp://example.com", "timeout": "10m", "secret": "x",
            "quota": {"in_flight": 100_001},
        }));
        let named: Vec<_> = bad.faults().iter().map(|f| f.setting).collect();
        assert_eq!(named, ["url", "timeout", "secret", "quota.in_flight"]);
        let stub = settings(serde_json::json!({"kind": "stub", "error_rate": 1.5}));
        assert_eq!(stub.faults()[0].to_string(), "error_rate: 0 to 1 is wanted, not 1.5");
    }
}
