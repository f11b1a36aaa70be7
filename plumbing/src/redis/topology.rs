use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::time::{Instant, timeout_at};

use super::{
    address::Address,
    dialler::Dialler,
    node::{Line, Node},
    slot::SLOTS,
    slots_answer::{Range, read_slots},
};

/// The least time between two looks at which node has which slots.
const REST: Duration = Duration::from_millis(100);

/// The most nodes that are asked at once which node has which slots.
const MOST_ASKED: usize = 16;

/// Which node has which slots. One server is a cluster of one node that has them all.
pub(super) struct Topology {
    dialler: Dialler,
    seeds: Vec<Address>,
    pub(super) cluster: bool,
    map: RwLock<Arc<Map>>,
    /// Set when the map was seen to be wrong.
    stale: AtomicBool,
    /// When it was last asked for; held while it is.
    asked: tokio::sync::Mutex<Option<Instant>>,
}

/// A map as it was at some time.
#[derive(Default)]
pub(super) struct Map {
    /// By first slot.
    ranges: Vec<(Range, Arc<Node>)>,
    nodes: HashMap<Address, Arc<Node>>,
}

impl Topology {
    /// Connects to nothing. `seeds` are not empty.
    pub(super) fn new(dialler: Dialler, seeds: Vec<Address>, cluster: bool) -> Result<Self, String> {
        let mut map = Map::default();
        if !cluster && let Some(address) = seeds.first() {
            let node = Arc::new(Node::new(address.clone(), &dialler)?);
            let all = Range { first: 0, last: SLOTS - 1, owner: address.clone() };
            map = Map { ranges: vec![(all, Arc::clone(&node))], nodes: [(address.clone(), node)].into() };
        }
        Ok(Self {
            dialler,
            seeds,
            cluster,
            map: RwLock::new(Arc::new(map)),
            stale: AtomicBool::new(cluster),
            asked: tokio::sync::Mutex::new(None),
        })
    }

    /// The map, asked for anew where it was seen to be wrong.
    pub(super) async fn map(&self, deadline: Instant) -> Result<Arc<Map>, String> {
        if !self.cluster || !self.stale.load(Ordering::Acquire) {
            return Ok(self.current());
        }
        let Ok(mut asked) = timeout_at(deadline, self.asked.lock()).await else {
            return Err("the cluster did not tell in time which node has which slots".to_owned());
        };
        let current = self.current();
        let rests = asked.is_some_and(|at| at.elapsed() < REST) && !current.ranges.is_empty();
        if rests || !self.stale.swap(false, Ordering::AcqRel) {
            return Ok(current);
        }
        let end = self.ask(&current, deadline).await;
        *asked = Some(Instant::now());
        match end {
            Ok(map) => {
                *self.map.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&map);
                Ok(map)
            }
            Err(why) => {
                self.doubt();
                if current.ranges.is_empty() { Err(why) } else { Ok(current) }
            }
        }
    }

    /// The map may be wrong: the next call asks for it anew.
    pub(super) fn doubt(&self) {
        self.stale.store(true, Ordering::Release);
    }

    /// The node at an address that another node named.
    pub(super) fn node_at(&self, address: &Address) -> Result<Arc<Node>, String> {
        if let Some(node) = self.current().nodes.get(address) {
            return Ok(Arc::clone(node));
        }
        let mut map = self.map.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = map.nodes.get(address) {
            return Ok(Arc::clone(node));
        }
        let node = Arc::new(Node::new(address.clone(), &self.dialler)?);
        let mut nodes = map.nodes.clone();
        nodes.insert(address.clone(), Arc::clone(&node));
        *map = Arc::new(Map { ranges: map.ranges.clone(), nodes });
        Ok(node)
    }

    fn current(&self) -> Arc<Map> {
        Arc::clone(&self.map.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Asks nodes that are known and seeds, and believes the first that answers.
    async fn ask(&self, current: &Map, deadline: Instant) -> Result<Arc<Map>, String> {
        let seeds = self.seeds.iter().filter(|seed| !current.nodes.contains_key(seed));
        let made: Vec<_> = seeds.map(|seed| Node::new(seed.clone(), &self.dialler).map(Arc::new)).collect();
        let known = current.nodes.values().cloned().map(Ok).take(MOST_ASKED);
        let mut command = ::redis::Pipeline::new();
        command.cmd("CLUSTER").arg("SLOTS");
        let command = &command;
        let mut answers: FuturesUnordered<_> = made
            .into_iter()
            .chain(known)
            .map(|node| async move {
                let node = node?;
                let told = node.send(command, Line::Shared, deadline).await;
                let told = told.map_err(|none| none.why).and_then(|told| read_slots(told, &node.address));
                told.map_err(|why| format!("{}: {why}", node.address))
            })
            .collect();
        let mut faults = Vec::new();
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(ranges) => return self.made(current, ranges),
                Err(why) => faults.push(why),
            }
        }
        Err(format!("no node of the cluster tells which node has which slots: {}", faults.join("; ")))
    }

    fn made(&self, current: &Map, told: Vec<Range>) -> Result<Arc<Map>, String> {
        let mut map = Map::default();
        for range in told {
            let known = map.nodes.get(&range.owner).or_else(|| current.nodes.get(&range.owner));
            let node = match known {
                Some(node) => Arc::clone(node),
                None => Arc::new(Node::new(range.owner.clone(), &self.dialler)?),
            };
            map.nodes.insert(range.owner.clone(), Arc::clone(&node));
            map.ranges.push((range, node));
        }
        map.ranges.sort_by_key(|(range, _)| range.first);
        Ok(Arc::new(map))
    }
}

impl Map {
    /// The node that has a slot, or any node; `None` where no node has it.
    pub(super) fn node(&self, slot: Option<u16>) -> Option<&Arc<Node>> {
        let Some(slot) = slot else { return self.ranges.first().map(|(_, node)| node) };
        let after = self.ranges.partition_point(|(range, _)| range.first <= slot);
        let (range, node) = self.ranges.get(after.checked_sub(1)?)?;
        (slot <= range.last).then_some(node)
    }

    /// All nodes that have slots.
    pub(super) fn owners(&self) -> Vec<Arc<Node>> {
        let mut owners: Vec<Arc<Node>> = Vec::new();
        for (_, node) in &self.ranges {
            if !owners.iter().any(|other| Arc::ptr_eq(other, node)) {
                owners.push(Arc::clone(node));
            }
        }
        owners
    }

    /// How many slots some node has.
    pub(super) fn slots(&self) -> u32 {
        self.ranges.iter().map(|(range, _)| u32::from(range.last - range.first) + 1).sum()
    }
}
