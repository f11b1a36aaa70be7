use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;

use super::address::Address;
use crate::Span;

/// Settings of a broker. `Debug` does not show the password.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AmqpSettings {
    /// Where it is: `amqp://host:port/vhost`, or `amqps://` for TLS. The virtual host is percent-encoded, and `/` without
    /// one. User and password have no place here.
    pub url: String,
    /// The user to log in as.
    #[serde(default = "guest")]
    pub username: String,
    /// The password to log in with; without one it is `guest`, which a broker takes from its own machine only.
    pub password: Option<SecretString>,
    /// Certificates (PEM) that the broker's must come from, in place of the system's. For `amqps://`.
    pub ca_file: Option<PathBuf>,
    /// A sign of life is sent at least twice in this time; after two times it without one from the broker the connection
    /// is lost. Whole seconds, `1s` to `5m`.
    #[serde(default = "heartbeat")]
    pub heartbeat: Span,
    /// What the name of every queue begins with: 1 to 64 letters, digits, `.`, `_` or `-`.
    pub prefix: String,
    /// The longest that any answer of the broker is waited for, a publish's confirms among them: `100ms` to `5m`.
    #[serde(default = "confirm_timeout")]
    pub confirm_timeout: Span,
}

impl AmqpSettings {
    /// Settings as they are by default: `guest`, a heartbeat of 10 s, 10 s for an answer.
    pub fn at(url: impl Into<String>, prefix: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            username: guest(),
            password: None,
            ca_file: None,
            heartbeat: heartbeat(),
            prefix: prefix.into(),
            confirm_timeout: confirm_timeout(),
        }
    }

    /// What is wrong with them, each with the name of the setting; empty where nothing is.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut want = |holds: bool, fault: &str| {
            if !holds {
                faults.push(fault.to_owned());
            }
        };
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        want(
            (1..=64).contains(&self.prefix.len()) && self.prefix.bytes().all(letter),
            "prefix: 1 to 64 letters, digits, '.', '_' or '-' are wanted",
        );
        want((1..=255).contains(&self.username.len()), "username: 1 to 255 bytes are wanted");
        let Span(heartbeat) = self.heartbeat;
        want(
            (1..=300).contains(&heartbeat.as_secs()) && heartbeat.subsec_nanos() == 0,
            "heartbeat: whole seconds, 1s to 5m, are wanted",
        );
        want(
            (Span::millis(100)..=Span::seconds(300)).contains(&self.confirm_timeout),
            "confirm_timeout: 100ms to 5m is wanted",
        );
        match Address::parse(&self.url) {
            Ok(address) => want(self.ca_file.is_none() || address.tls, "ca_file: this is for amqps:// only"),
            Err(fault) => faults.push(format!("url: {fault}")),
        }
        faults
    }
}

fn guest() -> String {
    "guest".to_owned()
}

fn heartbeat() -> Span {
    Span::seconds(10)
}

fn confirm_timeout() -> Span {
    Span::seconds(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_found_and_names_its_setting() {
        assert_eq!(AmqpSettings::at("amqp://mq", "stepcast").faults(), Vec::<String>::new());
        let bad = AmqpSettings {
            username: String::new(),
            heartbeat: Span::millis(1_500),
            confirm_timeout: Span::millis(5),
            ca_file: Some("ca.pem".into()),
            ..AmqpSettings::at("amqp://mq", "a b")
        };
        let faults = bad.faults();
        let names: Vec<_> = faults.iter().filter_map(|fault| fault.split(':').next()).collect();
        assert_eq!(names, ["prefix", "username", "heartbeat", "confirm_timeout", "ca_file"]);
        assert!(AmqpSettings::at("mq", "p").faults()[0].starts_with("url: "));
    }

    #[test]
    fn no_secret_is_shown() {
        let password = Some(SecretString::from("s3cret"));
        let settings = AmqpSettings { password, ..AmqpSettings::at("amqp://mq", "p") };
        assert!(!format!("{settings:?}").contains("s3cret"));
    }
}
