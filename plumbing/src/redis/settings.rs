use std::path::PathBuf;

use secrecy::SecretString;
use serde::Deserialize;

use super::address::Address;
use crate::Span;

/// Settings of a Redis server or cluster. `Debug` does not show the password.
#[derive(Clone, Debug, Deserialize)]
pub struct RedisSettings {
    /// Where it is: `redis://host:port`, or `rediss://host:port` for TLS. One server, or some nodes of a cluster (1 to
    /// 32) from which the others are found. User, password and database have no place here.
    pub urls: Vec<String>,
    /// Whether it is a cluster.
    #[serde(default)]
    pub cluster: bool,
    /// The user to log in as, if not the default one.
    pub username: Option<String>,
    /// The password to log in with.
    pub password: Option<SecretString>,
    /// Certificates (PEM) that a TLS server's must come from, in place of the system's.
    pub ca_file: Option<PathBuf>,
    /// What every key begins with: letters, digits, `.`, `_` and `-`, 1 to 64 of them.
    pub prefix: String,
    /// The region, which follows in every key, of the same letters.
    #[serde(default = "main_region")]
    pub region: String,
    /// What was answered as stored survives what.
    pub durability: Durability,
    /// With `replicated`: how many replicas must acknowledge a write, 1 to 16.
    #[serde(default)]
    pub replicas: u16,
    /// The longest a connect may take, and an answer: `100ms` to `1m`.
    pub timeout: Span,
    /// Connections to a server (to each node of a cluster), 1 to 64. They are shared, so few are enough; with
    /// `replicated` so many writes wait for replicas at once.
    pub connections: usize,
}

/// What that was answered as stored survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// The death of the process and of the server process: every write is in the append-only file first.
    Wal,
    /// As `wal`, but for up to 2 s before the death of the server.
    Relaxed,
    /// The loss of the primary: a write is acknowledged by [`RedisSettings::replicas`] replicas.
    Replicated,
    /// Nothing. Not for production.
    Memory,
}

impl RedisSettings {
    /// Settings as they are by default: durable by `wal`, region `main`, 5 s, 4 connections; a cluster where `urls` are
    /// more than one.
    pub fn at(urls: Vec<String>, prefix: impl Into<String>) -> Self {
        Self {
            cluster: urls.len() > 1,
            urls,
            username: None,
            password: None,
            ca_file: None,
            prefix: prefix.into(),
            region: main_region(),
            durability: Durability::Wal,
            replicas: 0,
            timeout: Span::seconds(5),
            connections: 4,
        }
    }

    /// What is wrong with them, each with the name of the setting; empty where nothing is.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut want = |holds: bool, fault: &str| {
            if !holds {
                faults.push(fault.to_owned());
            }
        };
        want((1..=32).contains(&self.urls.len()), "urls: 1 to 32 are wanted");
        want(self.cluster || self.urls.len() <= 1, "urls: several are for a cluster only (cluster = true)");
        want(is_name(&self.prefix), "prefix: 1 to 64 letters, digits, '.', '_' or '-' are wanted");
        want(is_name(&self.region), "region: 1 to 64 letters, digits, '.', '_' or '-' are wanted");
        want(
            (Span::millis(100)..=Span::seconds(60)).contains(&self.timeout),
            "timeout: 100ms to 1m is wanted",
        );
        want((1..=64).contains(&self.connections), "connections: 1 to 64 are wanted");
        let replicated = self.durability == Durability::Replicated;
        want(
            !replicated || (1..=16).contains(&self.replicas),
            "replicas: 1 to 16 are wanted with durability = \"replicated\"",
        );
        want(replicated || self.replicas == 0, "replicas: these are for durability = \"replicated\" only");
        want(self.username.is_none() || self.password.is_some(), "username: a password is wanted with it");
        let addresses: Vec<_> = self.urls.iter().map(|url| Address::parse(url)).collect();
        faults.extend(
            addresses.iter().filter_map(|end| end.as_ref().err()).map(|fault| format!("urls: {fault}")),
        );
        let mut tls = addresses.iter().flatten().map(|address| address.tls);
        if let Some(first) = tls.next() {
            if !tls.all(|other| other == first) {
                faults.push("urls: redis:// and rediss:// do not mix".to_owned());
            }
            if self.ca_file.is_some() && !first {
                faults.push("ca_file: this is for rediss:// only".to_owned());
            }
        }
        faults
    }
}

fn main_region() -> String {
    "main".to_owned()
}

fn is_name(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(urls: &[&str]) -> RedisSettings {
        RedisSettings::at(urls.iter().map(|url| (*url).to_owned()).collect(), "t")
    }

    #[test]
    fn every_fault_is_found_and_names_its_setting() {
        let none = Vec::<String>::new();
        assert_eq!(at(&["redis://a:6379"]).faults(), none);
        assert_eq!(at(&["rediss://a:1", "rediss://[::1]:2"]).faults(), none);
        let mut bad = at(&["redis://a:1", "rediss://b:1", "http://c"]);
        bad.cluster = false;
        bad.prefix = "a{b}".to_owned();
        bad.region = String::new();
        bad.timeout = Span::millis(1);
        bad.connections = 0;
        bad.replicas = 2;
        bad.username = Some("u".to_owned());
        let faults = bad.faults();
        let names = ["prefix", "region", "timeout", "connections", "replicas", "username", "urls"];
        for name in names {
            assert!(faults.iter().any(|fault| fault.starts_with(&format!("{name}: "))), "{name}: {faults:?}");
        }
        assert_eq!(faults.iter().filter(|fault| fault.starts_with("urls: ")).count(), 3, "{faults:?}");
        bad.durability = Durability::Replicated;
        assert!(!bad.faults().iter().any(|fault| fault.starts_with("replicas")));
    }

    #[test]
    fn the_password_is_not_shown() {
        let mut settings = at(&["redis://a:1"]);
        settings.password = Some("hunter2".into());
        assert!(!format!("{settings:?}").contains("hunter2"));
    }
}
