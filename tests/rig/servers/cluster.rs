use std::collections::BTreeSet;

use super::{RedisServer, free_port};
use crate::wait::{MOST, until};

/// A Redis Cluster of the test's own: three masters, each with so many replicas.
#[derive(Debug)]
pub struct RedisCluster {
    masters: Vec<RedisServer>,
    replicas: Vec<RedisServer>,
}

/// The slots of a cluster.
const SLOTS: usize = 16_384;
const MASTERS: usize = 3;

impl RedisCluster {
    /// Starts one and waits until every node calls it whole.
    pub async fn start(replicas_each: usize) -> Self {
        let mut nodes = Vec::new();
        for _ in 0..MASTERS * (1 + replicas_each) {
            let bus = free_port().to_string();
            nodes.push(
                RedisServer::start(&[
                    "--cluster-enabled",
                    "yes",
                    "--cluster-port",
                    &bus,
                    "--cluster-node-timeout",
                    "1500",
                    "--cluster-config-file",
                    "nodes.conf",
                    "--repl-diskless-sync-delay",
                    "0",
                ])
                .await,
            );
        }
        for (i, node) in nodes.iter().enumerate() {
            node.cli(&["CLUSTER", "SET-CONFIG-EPOCH", &(i + 1).to_string()]).await;
            if i < MASTERS {
                let (first, last) = (SLOTS * i / MASTERS, SLOTS * (i + 1) / MASTERS - 1);
                node.cli(&["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &last.to_string()]).await;
            }
            let bus = node.cli(&["CONFIG", "GET", "cluster-port"]).await;
            let bus = bus.lines().nth(1).unwrap();
            nodes[0].cli(&["CLUSTER", "MEET", "127.0.0.1", &node.port().to_string(), bus]).await;
        }
        let replicas = nodes.split_off(MASTERS);
        let cluster = Self { masters: nodes, replicas };
        cluster.settled(MASTERS * (1 + replicas_each)).await;
        for (i, replica) in cluster.replicas.iter().enumerate() {
            let master = cluster.masters[i % MASTERS].cli(&["CLUSTER", "MYID"]).await;
            replica.cli(&["CLUSTER", "REPLICATE", master.trim()]).await;
        }
        for replica in &cluster.replicas {
            until("the replica to follow", MOST, async || {
                replica.cli(&["INFO", "replication"]).await.contains("master_link_status:up").then_some(())
            })
            .await;
        }
        cluster.settled(MASTERS * (1 + replicas_each)).await;
        cluster
    }

    /// The URLs of the masters as they were at the start.
    pub fn urls(&self) -> Vec<String> {
        self.masters.iter().map(RedisServer::url).collect()
    }

    /// One of the masters as they were at the start, 0 to 2.
    pub fn master(&mut self, index: usize) -> &mut RedisServer {
        &mut self.masters[index]
    }

    /// Moves up to `most` slots that have keys from one master to another, key by key, while clients go on; answers how
    /// many there were.
    pub async fn move_slots(&self, from: usize, to: usize, most: usize) -> usize {
        let (from, to) = (&self.masters[from], &self.masters[to]);
        let (giver, taker) = (from.cli(&["CLUSTER", "MYID"]).await, to.cli(&["CLUSTER", "MYID"]).await);
        let mut slots = BTreeSet::new();
        for key in from.cli(&["--scan"]).await.lines() {
            slots.insert(from.cli(&["CLUSTER", "KEYSLOT", key]).await.trim().to_owned());
            if slots.len() == most {
                break;
            }
        }
        for slot in &slots {
            to.cli(&["CLUSTER", "SETSLOT", slot, "IMPORTING", giver.trim()]).await;
            from.cli(&["CLUSTER", "SETSLOT", slot, "MIGRATING", taker.trim()]).await;
            loop {
                let keys = from.cli(&["CLUSTER", "GETKEYSINSLOT", slot, "10"]).await;
                let keys: Vec<_> = keys.lines().filter(|key| !key.is_empty()).collect();
                if keys.is_empty() {
                    break;
                }
                let port = to.port().to_string();
                let head = ["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "KEYS"];
                from.cli(&[&head[..], &keys].concat()).await;
            }
            for node in [to, from] {
                node.cli(&["CLUSTER", "SETSLOT", slot, "NODE", taker.trim()]).await;
            }
        }
        slots.len()
    }

    /// Waits until the first replica of a master has all that was written there so far. `WAIT` does not tell: it looks
    /// at what its own connection wrote.
    pub async fn copied(&self, master: usize) {
        let offset = async |node: &RedisServer, name: &str| {
            let info = node.cli(&["INFO", "replication"]).await;
            let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.map_or(0, |offset| offset.trim().parse::<u64>().unwrap())
        };
        let written = offset(&self.masters[master], "master_repl_offset").await;
        until("the replica to have what was written", MOST, async || {
            (offset(&self.replicas[master], "slave_repl_offset").await >= written).then_some(())
        })
        .await;
    }

    /// Waits until a replica has taken the place of a master that was killed, and the cluster serves every slot again.
    pub async fn promoted(&self, killed: usize) {
        until("a replica to take over", MOST, async || {
            let nodes = self.masters[(killed + 1) % MASTERS].cli(&["CLUSTER", "NODES"]).await;
            let dead = format!(":{}@", self.masters[killed].port());
            let failed = nodes.lines().any(|l| l.contains(&dead) && l.contains("fail") && !l.contains('?'));
            let whole = self.masters[(killed + 1) % MASTERS].cli(&["CLUSTER", "INFO"]).await;
            (failed && whole.contains("cluster_state:ok")).then_some(())
        })
        .await;
    }

    async fn settled(&self, nodes: usize) {
        for node in self.masters.iter().chain(&self.replicas) {
            until("the cluster to be whole", MOST, async || {
                let info = node.cli(&["CLUSTER", "INFO"]).await;
                let whole = info.contains("cluster_state:ok");
                (whole && info.contains(&format!("cluster_known_nodes:{nodes}\r"))).then_some(())
            })
            .await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn slots_move_with_their_keys_and_a_replica_steps_in() {
        let mut cluster = RedisCluster::start(1).await;
        let first = cluster.master(0);
        let mut tag = 0;
        while first.cli(&["CLUSTER", "KEYSLOT", &format!("{{{tag}}}")]).await.trim().parse::<usize>().unwrap()
            >= SLOTS / 3
        {
            tag += 1;
        }
        let key = format!("{{{tag}}}:steps");
        first.cli(&["SET", &key, "7"]).await;
        assert_eq!(cluster.move_slots(0, 1, 10).await, 1);
        assert_eq!(cluster.master(1).cli(&["GET", &key]).await.trim(), "7");
        cluster.copied(1).await;
        cluster.master(1).kill();
        cluster.promoted(1).await;
        let promoted = cluster.replicas[1].cli(&["GET", &key]).await;
        assert_eq!(promoted.trim(), "7");
    }
}
