mod facts;
mod verdict;

use futures_util::future::join_all;
use tokio::time::Instant;

use self::{facts::Facts, verdict::judge};
use super::{Redis, node::Node};

/// What a check found that is no reason to stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// What an operator should know, each naming the server and the parameter.
    pub warnings: Vec<String>,
}

/// Why a check did not pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// A server does not answer, still loads its data, or is a replica at the moment: worth another try later.
    #[error("redis is away: {0}")]
    Away(String),
    /// A server is set up such that it would not keep what it is given. Every fault, each naming the server, the
    /// parameter, the value found and the value wanted.
    #[error("redis is not set up as it must be: {}", .0.join("; "))]
    Refused(Vec<String>),
}

impl Redis {
    /// Checks every primary: its version, its role, that it evicts nothing, and that it keeps what the durability
    /// promises. To be asked at the start, and again from time to time: parameters change under way.
    pub async fn check(&self) -> Result<Checked, CheckError> {
        let inner = &self.0;
        let deadline = Instant::now() + inner.timeout * 2;
        let map = inner.topology.map(deadline).await.map_err(CheckError::Away)?;
        let owners = map.owners();
        let asked = owners.iter().map(|node| look(node, deadline));
        let mut found = Checked::default();
        let mut refused = Vec::new();
        for (node, facts) in owners.iter().zip(join_all(asked).await) {
            let facts = facts.map_err(|why| {
                inner.topology.doubt();
                CheckError::Away(format!("{}: {why}", node.address))
            })?;
            let verdict = judge(&facts, self.wanted());
            if let Some(why) = verdict.away {
                inner.topology.doubt();
                return Err(CheckError::Away(format!("{}: {why}", node.address)));
            }
            let named = |text: String| format!("{}: {text}", node.address);
            found.warnings.extend(verdict.warnings.into_iter().map(named));
            refused.extend(verdict.faults.into_iter().map(named));
        }
        if !refused.is_empty() {
            return Err(CheckError::Refused(refused));
        }
        if inner.topology.cluster && map.slots() != u32::from(super::slot::SLOTS) {
            inner.topology.doubt();
            let why = format!("nodes have {} of the cluster's 16384 slots", map.slots());
            return Err(CheckError::Away(why));
        }
        Ok(found)
    }

    fn wanted(&self) -> verdict::Wanted {
        let inner = &self.0;
        verdict::Wanted {
            cluster: inner.topology.cluster,
            durability: inner.durability,
            replicas: inner.replicas,
        }
    }
}

async fn look(node: &Node, deadline: Instant) -> Result<Facts, String> {
    let answers = node.send(&facts::questions(), super::node::Line::Shared, deadline).await;
    Facts::read(answers.map_err(|none| none.why)?)
}
