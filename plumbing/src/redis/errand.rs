mod item;
mod mark;

use std::{sync::Arc, time::Duration};

use ::redis::{Cmd, RedisError, ServerError, ServerErrorKind, Value};
use futures_util::future::join_all;
use tokio::time::{Instant, sleep};

pub(super) use self::item::Kind;
use self::{
    item::{Item, To, pack, unpack},
    mark::mark,
};
use super::{
    Command,
    address::Address,
    fault::Fault,
    node::{Line, Node},
    topology::Topology,
};

/// The most commands sent in one piece; the pieces of a longer list go out side by side.
const PIECE: usize = 1_000;

/// The most times a command is sent on: to another node, or again to one that did not know its script or has a part
/// of its keys only.
const MOST_TURNS: u32 = 16;

/// The unit of the waits before a command goes again: once, twice, three times this, and so on.
const REST: Duration = Duration::from_millis(5);

/// Why commands are still not done after all their turns.
const SENT_ON: &str = "the nodes of the cluster send it from one to another";
const ON_THE_WAY: &str = "some of its keys are on their way to another node of the cluster";
const NO_OWNER: &str = "no node of the cluster has its slot";
const DOWN: &str = "the cluster is down, by what its node says";

/// Commands on their way, each to the node that has its keys, until each has its answer.
///
/// A command that changes something is sent a second time only where the server said that it did not run it.
pub(super) struct Errand<'a> {
    pub topology: &'a Topology,
    /// What every key begins with.
    pub front: &'a str,
    pub kind: Kind,
    pub deadline: Instant,
}

/// Commands that go to one node together.
type Piece = (Arc<Node>, Vec<Item>);

/// What is left of a piece when its node has answered.
#[derive(Default)]
struct Left {
    again: Vec<Item>,
    /// Why it is better to wait a moment before those go again.
    rest: Option<&'static str>,
    fault: Option<Fault>,
}

impl Errand<'_> {
    /// Runs the commands and gives the answers in their order, or the first fault.
    pub(super) async fn run(&self, commands: Vec<Command>) -> Result<Vec<Value>, Fault> {
        let mut answers = vec![Value::Nil; commands.len()];
        let items = commands.into_iter().enumerate();
        let mut items: Vec<_> = items.map(|(at, command)| Item::new(at, command)).collect();
        let mut why = "";
        for turn in 1..=MOST_TURNS {
            let (pieces, nowhere) = self.pieces(items).await?;
            let mut left =
                Left { rest: (!nowhere.is_empty()).then_some(NO_OWNER), again: nowhere, fault: None };
            let sent = pieces.into_iter().map(|(node, piece)| self.send(node, piece));
            for (got, part) in join_all(sent).await {
                for (at, value) in got {
                    answers[at] = value;
                }
                left.again.extend(part.again);
                left.rest = left.rest.or(part.rest);
                left.fault = left.fault.or(part.fault);
            }
            match left.fault {
                Some(fault) => return Err(fault),
                None if left.again.is_empty() => return Ok(answers),
                None => items = left.again,
            }
            why = left.rest.unwrap_or(SENT_ON);
            if left.rest.is_some() {
                sleep(REST * turn).await;
            }
            if Instant::now() >= self.deadline {
                break;
            }
        }
        Err(Fault::nowhere(items.first().map_or("", |item| item.command.name), why))
    }

    /// The commands by node, and those whose slot no node has at the moment.
    async fn pieces(&self, items: Vec<Item>) -> Result<(Vec<Piece>, Vec<Item>), Fault> {
        let (mut pieces, mut nowhere): (Vec<Piece>, _) = (Vec::new(), Vec::new());
        let first = items.first().map_or("", |item| item.command.name);
        let map = self.topology.map(self.deadline).await.map_err(|why| Fault::nowhere(first, why))?;
        for item in items {
            let node = match &item.to {
                To::Owner => map.node(item.command.slot()).cloned(),
                To::Moved(address) | To::Asking(address) => {
                    let node = self.topology.node_at(address);
                    Some(node.map_err(|why| Fault::nowhere(item.command.name, why))?)
                }
            };
            let Some(node) = node else {
                self.topology.doubt();
                nowhere.push(item);
                continue;
            };
            let open =
                pieces.iter_mut().rfind(|(other, piece)| Arc::ptr_eq(other, &node) && piece.len() < PIECE);
            match open {
                Some((_, piece)) => piece.push(item),
                None => pieces.push((node, vec![item])),
            }
        }
        Ok((pieces, nowhere))
    }

    /// Sends a piece and sorts the answers.
    async fn send(&self, node: Arc<Node>, mut piece: Vec<Item>) -> (Vec<(usize, Value)>, Left) {
        let mark = self.mark(&node, &piece).await;
        let packed = pack(&mut piece, self.kind, mark);
        let line = if matches!(self.kind, Kind::Replicated(..)) { Line::Own } else { Line::Shared };
        let mut got = Vec::with_capacity(piece.len());
        let mut left = Left::default();
        let values = match node.send(&packed, line, self.deadline).await {
            Ok(values) if values.len() == packed.len() => values,
            Ok(_) => {
                let why = "it gave more or fewer answers than it was asked for".to_owned();
                left.fault = Some(self.fault(&node, &piece, why));
                return (got, left);
            }
            Err(none) => {
                self.topology.doubt();
                if matches!(self.kind, Kind::Read) && none.cut && !piece.iter().any(|item| item.cut) {
                    left.again = unpack(piece, &packed);
                } else {
                    left.fault = Some(self.fault(&node, &piece, none.why));
                }
                return (got, left);
            }
        };
        let mut values = values.into_iter();
        let mut commands = packed.cmd_iter();
        for mut item in piece {
            let before = item.before();
            let Some(value) = values.nth(before) else { break };
            let Value::ServerError(error) = value else {
                got.push((item.at, value));
                commands.nth(before);
                continue;
            };
            if let Some(packed) = commands.nth(before) {
                item.command.packed = packed.clone();
            }
            self.sort(&node, item, error, &mut left);
        }
        if let (Kind::Replicated(replicas, _), None, false) = (self.kind, &left.fault, got.is_empty()) {
            left.fault = short(&node, replicas, values.next(), values.next());
            if left.fault.is_some() {
                // the mark's slot may be another node's by now
                self.topology.doubt();
            }
        }
        (got, left)
    }

    /// The write that replicas are waited for with, if they are.
    async fn mark(&self, node: &Arc<Node>, piece: &[Item]) -> Option<Cmd> {
        if !matches!(self.kind, Kind::Replicated(..)) {
            return None;
        }
        let map = self.topology.map(self.deadline).await.ok()?;
        mark(self.front, &map, node, piece)
    }

    /// Where a command goes that the server did not run, or what its fault is.
    fn sort(&self, node: &Node, mut item: Item, error: ServerError, left: &mut Left) {
        use ServerErrorKind::{
            Ask, BusyLoading, ClusterDown, MasterDown, Moved, NoScript, ReadOnly, TryAgain,
        };
        let kind = error.kind();
        match kind {
            Some(NoScript) if item.command.script.is_some() && !item.load => item.load = true,
            Some(TryAgain) => left.rest = Some(ON_THE_WAY),
            Some(ClusterDown) => {
                self.topology.doubt();
                item.to = To::Owner;
                left.rest = Some(DOWN);
            }
            Some(Moved | Ask) if self.topology.cluster => {
                let error = RedisError::from(error);
                let named = error.redirect_node();
                let address = named.and_then(|(text, _)| Address::of_redirection(text, &node.address));
                let Some(address) = address else {
                    left.fault = Some(Fault::at(node, item.command.name, "it names no node to go to"));
                    return;
                };
                item.load = false;
                item.to = if kind == Some(Ask) {
                    To::Asking(address)
                } else {
                    self.topology.doubt();
                    To::Moved(address)
                };
            }
            _ => {
                if matches!(kind, Some(BusyLoading | MasterDown | ReadOnly)) {
                    self.topology.doubt();
                }
                left.fault = Some(Fault::of_server(node, item.command.name, &error));
                return;
            }
        }
        left.again.push(item);
    }

    fn fault(&self, node: &Node, piece: &[Item], why: String) -> Fault {
        self.topology.doubt();
        Fault::at(node, piece.first().map_or("", |item| item.command.name), why)
    }
}

/// The fault where too few replicas acknowledged what was written, by the answers to the mark and the wait.
fn short(node: &Node, wanted: u16, mark: Option<Value>, wait: Option<Value>) -> Option<Fault> {
    let acknowledged = match (mark, wait) {
        (Some(Value::ServerError(error)), _) | (_, Some(Value::ServerError(error))) => {
            return Some(Fault::of_server(node, "WAIT", &error));
        }
        (_, Some(Value::Int(count))) => count,
        _ => 0,
    };
    let why =
        format!("{acknowledged} of {wanted} replicas acknowledged in time (durability = \"replicated\")");
    (acknowledged < i64::from(wanted)).then(|| Fault::at(node, "WAIT", why))
}
