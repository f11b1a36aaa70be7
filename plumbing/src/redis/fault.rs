use std::borrow::Cow;

use ::redis::ServerError;

use super::node::Node;
use crate::StoreError;

/// The most of a server's own words that a message repeats, in characters.
const MOST_WORDS: usize = 200;

/// Why a command has no answer: which server, which command, what is wrong. It holds no key and no value.
#[derive(Debug)]
pub(super) struct Fault {
    at: Option<String>,
    command: &'static str,
    why: String,
}

impl Fault {
    /// A fault of a node, or of the way to it.
    pub(super) fn at<'a>(node: &Node, command: &'static str, why: impl Into<Cow<'a, str>>) -> Self {
        Self { at: Some(node.address.to_string()), ..Self::nowhere(command, why) }
    }

    /// A fault that is no one node's.
    pub(super) fn nowhere<'a>(command: &'static str, why: impl Into<Cow<'a, str>>) -> Self {
        let why = why.into().chars().filter(|c| !c.is_control()).take(MOST_WORDS).collect();
        Self { at: None, command, why }
    }

    /// A fault that the server told of.
    pub(super) fn of_server(node: &Node, command: &'static str, error: &ServerError) -> Self {
        let detail = error.details().unwrap_or_default();
        let why = match error.code() {
            "OOM" => {
                "the server is out of memory: maxmemory is reached and nothing may be evicted".to_owned()
            }
            "READONLY" => "the server is a replica and takes no writes".to_owned(),
            "MOVED" => "the server is a node of a cluster: cluster = true is wanted".to_owned(),
            code => format!("{code} {detail}"),
        };
        Self::at(node, command, why)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        let Fault { at, command, why } = fault;
        Self::Unavailable(match at {
            Some(at) => format!("redis at {at}, {command}: {why}"),
            None => format!("redis, {command}: {why}"),
        })
    }
}
