use std::collections::BTreeSet;

use domain::{Campaign, Shard, ShardCount};
use night_ledger::{Brake, Brakes, Seal, StoreError};

use super::super::{Scheduler, Turn};
use crate::{agenda::Entry, roster};

impl Scheduler {
    /// The seals of an entry in these shards, from the column. For a hundred million users that is seconds of work, which is
    /// done beside the others.
    pub(super) async fn build(
        &mut self,
        campaign: &Campaign,
        entry: &Entry,
        n: ShardCount,
        shards: BTreeSet<Shard>,
        brakes: Brakes,
        turn: &mut Turn,
    ) -> Result<Vec<(Shard, Seal)>, StoreError> {
        let (column, campaign, entry) = (std::mem::take(&mut self.column), campaign.clone(), entry.clone());
        let building = tokio::task::spawn_blocking(move || {
            let aborted = |zone| brakes.on(zone) == Some(Brake::Aborted);
            let seals = roster::seals(&column, &campaign, &entry, n, &shards, &aborted);
            (column, seals)
        });
        let (column, seals) = self
            .meanwhile(turn, building)
            .await
            // then the column is loaded anew
            .map_err(|fault| StoreError::corrupt("roster", fault))?;
        self.column = column;
        Ok(seals)
    }
}
