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
    /// Refreshes the column once in a while. Pages that cannot be read are an error, and in nobody else's way.
    pub(super) async fn follow(&mut self, turn: &mut Turn) -> Result<(), StoreError> {
        if self.followed.is_none_or(|at| at.elapsed() >= BEHIND) {
            self.refresh(turn).await?;
        }
        if self.unreadable > 0 {
            let detail = format!("{} pages: their users are known as they were before", self.unreadable);
            return Err(StoreError::corrupt("a part of the directory", detail));
        }
        Ok(())
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
        let unreadable = refreshed?.unreadable;
        if unreadable > self.unreadable
            && let Some((page, error)) = self.column.unreadable().next()
        {
            tracing::error!(pages = unreadable, first = page, %error, "pages of the directory cannot be read");
        }
        self.unreadable = unreadable;
        // an error is tried again at the next tick
        (turn.fresh, self.followed) = (true, Some(began));
        Ok(())
    }
}
