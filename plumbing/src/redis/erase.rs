use ::redis::{Pipeline, Value, from_redis_value};
use tokio::time::Instant;

use super::{
    Command, Redis,
    fault::Fault,
    node::{Line, Node},
};
use crate::StoreError;

/// How many keys a server looks at in one step.
const LOOK_AT: usize = 1_000;

impl Redis {
    /// Deletes every key of its prefix and region, and answers how many there were. It looks at all keys of the
    /// servers: for the end of a test or a rehearsal.
    pub async fn erase(&self) -> Result<u64, StoreError> {
        let deadline = Instant::now() + self.0.timeout * 2;
        let map = self.0.topology.map(deadline).await.map_err(|why| Fault::nowhere("SCAN", why))?;
        let mut erased = 0;
        for node in map.owners() {
            let mut cursor = 0;
            loop {
                let (next, keys) = self.look(&node, cursor).await?;
                let commands = keys.into_iter().map(|key| Command::new("UNLINK").key(key)).collect();
                erased += self.write_all::<u64>(commands).await?.into_iter().sum::<u64>();
                cursor = next;
                if cursor == 0 {
                    break;
                }
            }
        }
        Ok(erased)
    }

    async fn look(&self, node: &Node, cursor: u64) -> Result<(u64, Vec<Vec<u8>>), StoreError> {
        let mut scan = Pipeline::new();
        // no letter of a prefix or a region has a meaning in a pattern
        scan.cmd("SCAN")
            .arg(cursor)
            .arg("MATCH")
            .arg(format!("{}:*", self.0.front))
            .arg("COUNT")
            .arg(LOOK_AT);
        let deadline = Instant::now() + self.0.timeout * 2;
        let answers = node.send(&scan, Line::Shared, deadline).await;
        let answers = answers.map_err(|none| Fault::at(node, "SCAN", none.why))?;
        match answers.into_iter().next() {
            Some(Value::ServerError(error)) => Err(Fault::of_server(node, "SCAN", &error).into()),
            Some(value) => from_redis_value(value).map_err(super::unreadable),
            None => Err(super::unreadable("there is none")),
        }
    }
}
