//! Which engines, with which settings, and what is told where they do not fit.

use std::{ffi::OsString, fs, path::Path};

use plumbing::{Durability, Span};
use secrecy::ExposeSecret;

use crate::{Config, Faults, Queue, Stores};

const BOTH: &str =
    "stores = { kind = 'redis', urls = ['redis://a:6379'] }\nqueue = { kind = 'rabbitmq', url = 'amqp://b' }";

fn load(text: &str, variables: &[(&str, &str)]) -> Result<Config, Faults> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stepcast.toml");
    fs::write(&file, text).unwrap();
    Config::load(Some(&file), variables.iter().map(|&(n, v)| (OsString::from(n), OsString::from(v))))
}

fn faulty(text: &str) -> Vec<String> {
    let faults = load(text, &[]).unwrap_err();
    faults.0.into_iter().map(|fault| fault.setting).collect()
}

fn engines(config: &Config) -> (&plumbing::RedisSettings, &plumbing::amqp::AmqpSettings) {
    match (&config.stores, &config.queue) {
        (Stores::Redis(redis), Queue::RabbitMq(amqp)) => (redis, amqp),
        _ => panic!("embedded"),
    }
}

#[test]
fn embedded_without_a_word() {
    let config = Config::load(None, []).unwrap();
    assert!(matches!((&config.stores, &config.queue), (Stores::Embedded, Queue::Embedded)));
    assert!(!config.shares_stores());
}

#[test]
fn shared_ones_need_their_addresses_and_have_the_rest() {
    let config = load(BOTH, &[]).unwrap();
    assert!(config.shares_stores());
    let (redis, amqp) = engines(&config);
    assert_eq!((redis.prefix.as_str(), redis.region.as_str(), redis.cluster), ("stepcast", "main", false));
    assert_eq!((redis.durability, redis.timeout), (Durability::Wal, Span::seconds(5)));
    assert_eq!((amqp.prefix.as_str(), amqp.username.as_str()), ("stepcast", "guest"));
    assert_eq!((amqp.heartbeat, amqp.confirm_timeout), (Span::seconds(10), Span::seconds(10)));
    let shown: Vec<_> = config.show().collect();
    for line in ["stores.durability = \"wal\"   # default", "queue.heartbeat = \"10s\"   # default"] {
        assert!(shown.contains(&line.to_owned()), "{line}: {shown:#?}");
    }
    assert!(shown.iter().any(|line| line.starts_with("stores.urls = [\"redis://a:6379\"]   # file")));
    assert_eq!(
        faulty("[stores]\nkind = 'redis'\n[queue]\nkind = 'rabbitmq'\nheartbeat = '1ms'"),
        ["queue.heartbeat", "queue.url", "stores.urls"]
    );
}

#[test]
fn the_environment_alone_will_do() {
    let config = load(
        "",
        &[
            ("STEPCAST_STORES__KIND", "redis"),
            ("STEPCAST_STORES__URLS", "[\"redis://a:1\", \"redis://b:2\"]"),
            ("STEPCAST_STORES__CLUSTER", "true"),
            ("STEPCAST_STORES__PASSWORD", "hunter2"),
            ("STEPCAST_QUEUE__KIND", "rabbitmq"),
            ("STEPCAST_QUEUE__URL", "amqp://b:5672/steps"),
            ("STEPCAST_QUEUE__PASSWORD", "\"12345\""),
        ],
    )
    .unwrap();
    let (redis, amqp) = engines(&config);
    assert_eq!((redis.urls.len(), redis.cluster), (2, true));
    assert_eq!(redis.password.as_ref().unwrap().expose_secret(), "hunter2");
    assert_eq!(amqp.password.as_ref().unwrap().expose_secret(), "12345");
    let told = format!("{config:?} {}", config.show().collect::<String>());
    assert!(!told.contains("hunter2") && !told.contains("12345"), "{told}");
}

#[test]
fn both_are_embedded_or_neither_is() {
    for (text, at, other) in [
        ("stores = { kind = 'redis', urls = ['redis://a:6379'] }", "queue.kind", "stores.kind"),
        ("queue = { kind = 'rabbitmq', url = 'amqp://b' }", "stores.kind", "queue.kind"),
    ] {
        let faults = load(text, &[]).unwrap_err();
        let said = faults.to_string();
        assert!(faults.0.len() == 1 && faults.0[0].setting == at && said.contains(other), "{said}");
    }
    assert_eq!(faulty("stores.kind = 'mysql'"), ["stores.kind"]);
}

#[test]
fn settings_of_another_kind_are_told_as_such() {
    let faults =
        load("[stores]\nurls = ['redis://a:6379']\nurl = 'x'\n[queue]\nurl = 'amqp://b'", &[]).unwrap_err();
    let said = faults.to_string();
    let settings: Vec<_> = faults.0.iter().map(|fault| fault.setting.as_str()).collect();
    assert_eq!(settings, ["queue.url", "stores.url", "stores.urls"]);
    assert!(
        said.contains("setting of stores.kind = \"redis\"") && said.contains("is stores.urls meant?"),
        "{said}"
    );
}

#[test]
fn every_fault_at_once() {
    let text = "
        [stores]
        kind = 'redis'
        urls = ['redis://me:s3cret@a:6379', 'http://b']
        durabilty = 'wal'
        prefix = 'a b'
        timeout = '1h'
        connections = 0
        replicas = 2
        username = 'me'
        [queue]
        kind = 'rabbitmq'
        url = 'mq'
        ca_file = 7
        user = 'me'
    ";
    let faults = load(text, &[]).unwrap_err();
    assert!(!faults.to_string().contains("s3cret"), "{faults}");
    let mut settings: Vec<_> = faults.0.iter().map(|fault| fault.setting.as_str()).collect();
    settings.dedup();
    assert_eq!(
        settings,
        [
            "queue.ca_file",
            "queue.url",
            "queue.user",
            "stores.connections",
            "stores.durabilty",
            "stores.prefix",
            "stores.replicas",
            "stores.timeout",
            "stores.urls",
            "stores.username",
        ]
    );
    assert!(faults.to_string().contains("is stores.durability meant?"), "{faults}");
}

#[test]
fn replicated_says_how_many() {
    let faults = load(&BOTH.replace("] }", "], durability = 'replicated' }"), &[]).unwrap_err();
    assert_eq!(
        faults.0.iter().map(|f| f.setting.as_str()).collect::<Vec<_>>(),
        ["stores.replicas"],
        "{faults}"
    );
    let two = BOTH.replace("] }", "], durability = 'replicated', replicas = 2 }");
    assert_eq!(engines(&load(&two, &[]).unwrap()).0.replicas, 2);
}

#[test]
fn passwords_lie_in_files_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    fs::write(&file, "hunter2\n").unwrap();
    let with = |stores: String, queue: String| {
        BOTH.replace("] }", &format!("], {stores} }}"))
            .replace("'amqp://b' }", &format!("'amqp://b', {queue} }}"))
    };
    let from = |path: &Path| format!("password_file = {path:?}");
    let config = load(&with(from(&file), from(&file)), &[]).unwrap();
    let (redis, amqp) = engines(&config);
    for password in [&redis.password, &amqp.password] {
        assert_eq!(password.as_ref().unwrap().expose_secret(), "hunter2");
    }
    assert!(!format!("{config:?} {}", config.show().collect::<String>()).contains("hunter2"));
    let both = format!("{}, password = 'hunter3'", from(&file));
    let faults = load(&with(both, from(&folder.path().join("none"))), &[]).unwrap_err();
    let settings: Vec<_> = faults.0.iter().map(|fault| fault.setting.as_str()).collect();
    assert_eq!(settings, ["queue.password_file", "stores.password_file"], "{faults}");
    assert!(!faults.to_string().contains("hunter"), "{faults}");
}

/// What holds without being set is what the default page says.
#[test]
fn the_default_page_tells_what_holds() {
    let mut section = String::new();
    let mut told = 0;
    for line in crate::DEFAULTS.lines() {
        if let Some(header) = line.strip_prefix('[') {
            header.trim_end_matches(']').clone_into(&mut section);
        }
        let engine = match section.as_str() {
            "stores" => super::REDIS,
            "queue" => super::RABBITMQ,
            _ => continue,
        };
        let setting = line.strip_prefix('#').and_then(|line| line.split_once(" = "));
        let Some((name, value)) = setting.filter(|(name, _)| !name.starts_with(' ')) else { continue };
        if let Some(held) = engine.lines().find_map(|held| held.strip_prefix(&format!("{name} = "))) {
            assert_eq!(value, held, "{section}.{name}");
            told += 1;
        }
    }
    assert_eq!(told, super::REDIS.lines().count() + super::RABBITMQ.lines().count());
}
