//! Redis, one server or a cluster through the same calls: connections with time limits, keys, scripts, pipelines, and
//! the check that the server keeps what it is given.

mod address;
mod check;
mod command;
mod dialler;
mod entry_keys;
mod erase;
mod errand;
mod fault;
mod node;
mod script;
mod seats;
mod settings;
mod slot;
mod slots_answer;
mod topology;
mod values;

use std::{fmt::Display, sync::Arc};

use ::redis::{FromRedisValue, Value};
use tokio::time::Instant;

use self::{
    address::Address,
    command::Place,
    dialler::Dialler,
    errand::{Errand, Kind},
    fault::Fault,
    topology::Topology,
};
pub use self::{
    check::{CheckError, Checked},
    command::Command,
    entry_keys::EntryKeys,
    script::Script,
    settings::{Durability, RedisSettings},
    slot::redis_slot,
};
use crate::StoreError;

/// The most commands in one call.
const MOST_COMMANDS: usize = 100_000;

/// A Redis server or cluster. Cheap to clone; clones share their connections.
///
/// Each call ends within twice [`RedisSettings::timeout`], for connecting and for the answer. No write is sent twice,
/// except where the server said that it did not run it (it did not know the script, or the slot had moved). After
/// [`StoreError::Unavailable`] it is not known whether a write was done, so writes are made such that they can be
/// repeated.
#[derive(Clone)]
pub struct Redis(Arc<Inner>);

struct Inner {
    topology: Topology,
    /// `{prefix}:{region}`.
    front: String,
    durability: Durability,
    replicas: u16,
    timeout: std::time::Duration,
}

impl Redis {
    /// Takes settings and connects to nothing yet: a server that is away makes calls fail until it is back. The error
    /// is every fault of the settings, each with the name of one.
    pub fn new(settings: &RedisSettings) -> Result<Self, Vec<String>> {
        let faults = settings.faults();
        if !faults.is_empty() {
            return Err(faults);
        }
        let seeds: Vec<_> = settings.urls.iter().filter_map(|url| Address::parse(url).ok()).collect();
        let some = seeds.first().ok_or_else(|| vec!["urls: 1 to 32 are wanted".to_owned()])?;
        let dialler = Dialler::new(settings, some).map_err(|fault| vec![fault])?;
        let topology = Topology::new(dialler, seeds, settings.cluster)
            .map_err(|fault| vec![format!("urls: {fault}")])?;
        Ok(Self(Arc::new(Inner {
            topology,
            front: format!("{}:{}", settings.prefix, settings.region),
            durability: settings.durability,
            replicas: settings.replicas,
            timeout: settings.timeout.0,
        })))
    }

    /// The key `{prefix}:{region}:{<tag>}:{rest}`, as every store makes its keys; for example
    /// `stepcast:main:{s.17}:steps:20260607:1001`. The braces stand in the key: what they hold is the hash tag, so keys
    /// of one tag lie in one slot of a cluster. `tag` holds no brace.
    pub fn key(&self, tag: impl Display, rest: impl Display) -> String {
        format!("{}:{{{tag}}}:{rest}", self.0.front)
    }

    /// Runs a command, or a script, that changes nothing. Where the connection was cut while nobody used it, it is
    /// tried once more on a new one.
    pub async fn read<T: FromRedisValue>(&self, command: Command) -> Result<T, StoreError> {
        one(self.read_all(vec![command]).await?)
    }

    /// Runs many that change nothing, together, and gives the answers in their order. The first fault fails the call.
    pub async fn read_all<T: FromRedisValue>(&self, commands: Vec<Command>) -> Result<Vec<T>, StoreError> {
        answers(self.run(commands, Kind::Read).await?)
    }

    /// Runs a command or a script that changes something. With `durability = "replicated"` it is a success only once
    /// the replicas acknowledged it.
    pub async fn write<T: FromRedisValue>(&self, command: Command) -> Result<T, StoreError> {
        one(self.write_all(vec![command]).await?)
    }

    /// Runs many that change something, together, and gives the answers in their order. Each is done whole or not at
    /// all, in no certain order; the first fault fails the call, and others may have been done then.
    pub async fn write_all<T: FromRedisValue>(&self, commands: Vec<Command>) -> Result<Vec<T>, StoreError> {
        let kind = match self.0.durability {
            Durability::Replicated => Kind::Replicated(self.0.replicas, self.0.timeout * 3 / 4),
            Durability::Wal | Durability::Relaxed | Durability::Memory => Kind::Write,
        };
        answers(self.run(commands, kind).await?)
    }

    async fn run(&self, commands: Vec<Command>, kind: Kind) -> Result<Vec<Value>, StoreError> {
        if commands.len() > MOST_COMMANDS {
            return Err(StoreError::Full { what: "a call of redis", limit: MOST_COMMANDS as u64 });
        }
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(split) = commands.iter().find(|command| command.place() == Place::InTwo) {
            return Err(Fault::nowhere(split.name, "its keys lie in more than one slot").into());
        }
        let deadline = Instant::now() + self.0.timeout * 2;
        let errand = Errand { topology: &self.0.topology, front: &self.0.front, kind, deadline };
        Ok(errand.run(commands).await?)
    }
}

fn answers<T: FromRedisValue>(values: Vec<Value>) -> Result<Vec<T>, StoreError> {
    values.into_iter().map(T::from_redis_value).map(|end| end.map_err(unreadable)).collect()
}

fn one<T>(answers: Vec<T>) -> Result<T, StoreError> {
    answers.into_iter().next().ok_or_else(|| unreadable("there is none"))
}

fn unreadable(error: impl Display) -> StoreError {
    StoreError::corrupt("an answer of redis", error)
}
