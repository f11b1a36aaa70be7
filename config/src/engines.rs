//! The sections `[stores]` and `[queue]`: which engine, and its settings.

use plumbing::{Redis, RedisSettings, amqp::AmqpSettings};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use toml::Value;

use crate::{Origin, draft::Draft, fields::fields_of, key::Key, parse::parse, password, tree::Node, typed};

/// Where people, their steps and the nights lie.
#[derive(Clone, Debug)]
pub enum Stores {
    /// In the data file.
    Embedded,
    /// In Redis, where other processes find them too.
    Redis(RedisSettings),
}

/// Where batches wait for a sender.
#[derive(Clone, Debug)]
pub enum Queue {
    /// In the data file.
    Embedded,
    /// In RabbitMQ.
    RabbitMq(AmqpSettings),
}

/// What holds in `[stores]` of the kind "redis" without being set.
const REDIS: &str = "cluster = false\nprefix = \"stepcast\"\nregion = \"main\"\ndurability = \"wal\"\ntimeout = \"5s\"\nconnections = 4";
/// What holds in `[queue]` of the kind "rabbitmq" without being set.
const RABBITMQ: &str =
    "username = \"guest\"\nprefix = \"stepcast\"\nheartbeat = \"10s\"\nconfirm_timeout = \"10s\"";

/// Reads both sections. The engines go together: one process alone has the data file.
pub(crate) fn read_engines(draft: &mut Draft) -> Option<(Stores, Queue)> {
    let (stores, queue) = (Key::of(&["stores"]), Key::of(&["queue"]));
    let (shared_stores, shared_queue) = (shared(draft, &stores, "redis"), shared(draft, &queue, "rabbitmq"));
    let (stores_kind, queue_kind) = (stores.child("kind"), queue.child("kind"));
    if shared_stores != shared_queue && !draft.about(&stores_kind) && !draft.about(&queue_kind) {
        let (at, wanted, other, is) = match shared_stores {
            true => (&queue_kind, "rabbitmq", &stores_kind, "redis"),
            false => (&stores_kind, "redis", &queue_kind, "rabbitmq"),
        };
        draft.fault(
            at,
            format!("\"{wanted}\" is wanted with {other} = \"{is}\": both are embedded, or neither is"),
        );
    }
    let stores = match shared_stores {
        true => read_redis(draft, &stores).map(Stores::Redis),
        false => embedded::<RedisSettings>(draft, &stores, "redis").then_some(Stores::Embedded),
    };
    let queue = match shared_queue {
        true => read_rabbitmq(draft, &queue).map(Queue::RabbitMq),
        false => embedded::<AmqpSettings>(draft, &queue, "rabbitmq").then_some(Queue::Embedded),
    };
    Some((stores?, queue?))
}

/// Whether the kind of a section is the one that several processes can share.
fn shared(draft: &Draft, section: &Key, kind: &str) -> bool {
    let given = draft.tree.get(section.child("kind").parts()).map(Node::to_value);
    given.as_ref().and_then(Value::as_str) == Some(kind)
}

/// What is in a section beside the settings of an engine.
const APART: &[&str] = &["kind", "password_file"];

fn read_redis(draft: &mut Draft, section: &Key) -> Option<RedisSettings> {
    let urls = section.child("urls");
    if draft.tree.get(urls.parts()).is_none() {
        draft.missing(&urls, "a list of redis:// or rediss:// addresses is wanted");
        stand_in(draft, &urls, Value::from(vec!["redis://missing.invalid:6379"]));
    }
    let mut settings: RedisSettings = read(draft, section, REDIS)?;
    resolve_password(draft, section, &mut settings.password);
    if let Err(faults) = Redis::new(&settings) {
        judge(draft, section, faults);
    }
    Some(settings)
}

fn read_rabbitmq(draft: &mut Draft, section: &Key) -> Option<AmqpSettings> {
    let url = section.child("url");
    if draft.tree.get(url.parts()).is_none() {
        draft.missing(&url, "an amqp:// or amqps:// address is wanted");
        stand_in(draft, &url, Value::from("amqp://missing.invalid:5672"));
    }
    let mut settings: AmqpSettings = read(draft, section, RABBITMQ)?;
    resolve_password(draft, section, &mut settings.password);
    judge(draft, section, settings.faults());
    Some(settings)
}

/// Puts a value where one is missing, so that the other settings can be read and judged.
fn stand_in(draft: &mut Draft, key: &Key, value: Value) {
    draft.tree.put(key, Some(Node::leaf(Origin::Default, value)));
}

/// The settings of an engine, over what holds without being set.
fn read<T: DeserializeOwned>(draft: &mut Draft, section: &Key, defaults: &str) -> Option<T> {
    let known: Vec<&str> = fields_of::<T>().iter().chain(APART).copied().collect();
    for name in draft.names(section) {
        if !known.contains(&name.as_str()) {
            let key = section.child(&name);
            draft.unknown(&key, &known);
            draft.tree.put(&key, None);
        }
    }
    for (name, node) in parse(defaults, |_| Origin::Default).0.entries() {
        let key = section.child(name);
        if draft.tree.get(key.parts()).is_none() {
            draft.tree.put(&key, Some(node.clone()));
        }
    }
    typed::read(draft, section, APART)
}

/// Notes what an engine finds wrong, each with the name of a setting in front, and is not known yet.
fn judge(draft: &mut Draft, section: &Key, faults: Vec<String>) {
    for fault in faults {
        let (at, wanted) = match fault.split_once(": ") {
            Some((name, wanted)) if draft.tree.get(section.child(name).parts()).is_some() => {
                (section.child(name), wanted)
            }
            // of one that is not set
            Some((name, wanted)) if name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_') => {
                if !draft.about(&section.child(name)) {
                    draft.missing(&section.child(name), wanted);
                }
                continue;
            }
            _ => (section.clone(), fault.as_str()),
        };
        if !draft.about(&at) {
            draft.fault(&at, wanted);
        }
    }
}

fn resolve_password(draft: &mut Draft, section: &Key, password: &mut Option<SecretString>) {
    let (inline, file) = (section.child("password"), section.child("password_file"));
    let Some(path) = draft.tree.get(file.parts()).map(Node::to_value) else { return };
    let Some(path) = path.as_str() else { return };
    if password.is_some() {
        let origin = draft.tree.nearest(&inline).origin.clone();
        draft.fault(
            &file,
            format!("only one of `password_file` and `password` is wanted; `password` is set by {origin}"),
        );
        return;
    }
    match password::read_password(path.as_ref()) {
        Ok(read) => *password = Some(read),
        Err(wanted) => {
            draft.fault(&file, wanted);
            // stands in: the one in the file may well be right
            *password = Some(SecretString::from("missing"));
        }
    }
}

/// Notes settings in a section of the kind "embedded", which has none; whether there were none.
fn embedded<T: DeserializeOwned>(draft: &mut Draft, section: &Key, kind: &str) -> bool {
    let known: Vec<&str> = fields_of::<T>().iter().chain(APART).copied().collect();
    let mut none = true;
    for name in draft.names(section).into_iter().filter(|name| name != "kind") {
        let key = section.child(&name);
        if known.contains(&name.as_str()) {
            if !draft.about(&key) {
                draft.fault(&key, format!("this is a setting of {section}.kind = \"{kind}\""));
            }
        } else {
            draft.unknown(&key, &known);
        }
        none = false;
    }
    none
}

#[cfg(test)]
mod tests;
