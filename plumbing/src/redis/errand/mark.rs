use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use ::redis::{Cmd, cmd};

use super::{
    super::{node::Node, redis_slot, topology::Map},
    item::Item,
};

/// Seconds that a mark stays, since nobody reads it.
const STAYS: u32 = 60;
/// There are so many marks, each in a slot of its own.
const MARKS: u32 = 4_096;
/// The most that are looked at for one in a slot of the node.
const TRIES: u32 = 1_024;

/// The mark that is tried first the next time: one whose slot is on its way to another node does not stand in the way for
/// long.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A write to one of the node's slots, none of them one that an item of the piece names, since those may be on their way to
/// another node. `None` for a node that has next to no slots.
///
/// A server (Redis 7.2 and later) waits for the replicas to have what this connection wrote last. A command that is repeated,
/// finds its work done and writes nothing would without a write of its own not wait for what it found, which another
/// connection wrote.
pub(super) fn mark(front: &str, map: &Map, node: &Arc<Node>, piece: &[Item]) -> Option<Cmd> {
    let from = NEXT.fetch_add(1, Ordering::Relaxed);
    let key =
        (0..TRIES).map(|n| format!("{front}:{{mark.{}}}", from.wrapping_add(n) % MARKS)).find(|key| {
            let slot = redis_slot(key.as_bytes());
            map.node(Some(slot)).is_some_and(|owner| Arc::ptr_eq(owner, node))
                && piece.iter().all(|item| item.command.slot() != Some(slot))
        })?;
    let mut mark = cmd("SET");
    mark.arg(key).arg(1).arg("EX").arg(STAYS);
    Some(mark)
}

#[cfg(test)]
mod tests {
    use ::redis::Arg;
    use tokio::time::Instant;

    use super::{
        super::super::{Command, RedisSettings, address::Address, dialler::Dialler, topology::Topology},
        *,
    };

    fn server() -> Topology {
        let settings = RedisSettings::at(vec!["redis://127.0.0.1:1".to_owned()], "t");
        let address = Address::parse(&settings.urls[0]).unwrap();
        let dialler = Dialler::new(&settings, &address).unwrap();
        Topology::new(dialler, vec![address], false).unwrap()
    }

    fn key(mark: &Cmd) -> String {
        match mark.args_iter().nth(1) {
            Some(Arg::Simple(key)) => String::from_utf8(key.to_vec()).unwrap(),
            _ => panic!("no key"),
        }
    }

    #[tokio::test]
    async fn each_mark_is_in_another_slot_and_in_none_of_the_piece() {
        let map = server().map(Instant::now()).await.unwrap();
        let node = Arc::clone(map.node(None).unwrap());
        let names = (0..MARKS).filter(|n| n % 2 == 0).map(|n| format!("t:main:{{mark.{n}}}:x"));
        let commands = names.map(|name| Command::new("DEL").key(name));
        let piece: Vec<_> = commands.enumerate().map(|(at, command)| Item::new(at, command)).collect();
        let keys: Vec<_> = (0..3).map(|_| key(&mark("t:main", &map, &node, &piece).unwrap())).collect();
        assert!(keys.iter().all(|key| key.starts_with("t:main:{mark.") && key.ends_with('}')), "{keys:?}");
        let slots: Vec<_> = keys.iter().map(|key| redis_slot(key.as_bytes())).collect();
        assert!(piece.iter().all(|item| !slots.contains(&item.command.slot().unwrap())));
        assert!(keys[0] != keys[2], "{keys:?}");
    }

    #[tokio::test]
    async fn a_node_without_slots_has_none() {
        let map = server().map(Instant::now()).await.unwrap();
        let other = server().map(Instant::now()).await.unwrap();
        assert!(mark("t:main", &map, other.node(None).unwrap(), &[]).is_none());
    }
}
