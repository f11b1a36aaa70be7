//! The column of the users: loaded once, then followed.

use std::{
    sync::Arc,
    time::{Duration, Instant as RealInstant},
};

use night_ledger::StoreError;

use super::{Metrics, Scheduler, Turn};

/// How far behind the directory the column may be between two seals, so that little is left to read before one.
const BEHIND: Duration = Duration::from_secs(1);

impl Scheduler {
    /// Refreshes the column once in a while.
    pub(super) async fn follow(&mut self, turn: &mut Turn) -> Result<(), StoreError> {
        if self.followed.is_some_and(|at| at.elapsed() < BEHIND) {
            return Ok(());
        }
        self.refresh(turn).await
    }

    /// Has in the column what was stored before this tick.
    pub(super) async fn refresh(&mut self, turn: &mut Turn) -> Result<(), StoreError> {
        if turn.fresh {
            return Ok(());
        }
        let (mut column, directory, now) =
            (std::mem::take(&mut self.column), Arc::clone(&self.directory), turn.now);
        let began = RealInstant::now();
        let refreshing = async {
            let refreshed = column.refresh(&*directory, now).await;
            (column, refreshed)
        };
        let (column, refreshed) = self.meanwhile(turn, refreshing).await;
        self.column = column;
        Metrics::count(&self.metrics.users, self.column.users());
        Metrics::count(&self.metrics.column_bytes, self.column.bytes());
        refreshed?;
        // an error is tried again at the next tick
        (turn.fresh, self.followed) = (true, Some(began));
        Ok(())
    }
}
