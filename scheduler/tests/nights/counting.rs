//! A directory that counts how often its roster is read.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use directory::{Applied, Change, Directory, EmbeddedDirectory, RosterPage, StoreError, User};
use domain::{ChannelName, Instant, Uid, Zone};

pub(crate) struct Counting {
    inner: EmbeddedDirectory,
    rosters: AtomicU64,
}

impl Counting {
    pub(crate) fn over(inner: EmbeddedDirectory) -> Self {
        Self { inner, rosters: AtomicU64::new(0) }
    }

    /// Readings from the roster's beginning.
    pub(crate) fn rosters(&self) -> u64 {
        self.rosters.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Directory for Counting {
    async fn apply(&self, changes: Vec<Change>, now: Instant) -> Result<Vec<Applied>, StoreError> {
        self.inner.apply(changes, now).await
    }

    async fn users(&self, uids: &[Uid]) -> Result<Vec<Option<User>>, StoreError> {
        self.inner.users(uids).await
    }

    async fn drop_device(
        &self,
        uid: Uid,
        channel: &ChannelName,
        address: &str,
        gone_at: Instant,
    ) -> Result<bool, StoreError> {
        self.inner.drop_device(uid, channel, address, gone_at).await
    }

    async fn roster(&self, after: Option<Uid>, limit: usize) -> Result<RosterPage, StoreError> {
        self.rosters.fetch_add(u64::from(after.is_none()), Ordering::SeqCst);
        self.inner.roster(after, limit).await
    }

    async fn zones(&self) -> Result<Vec<(Zone, u64)>, StoreError> {
        self.inner.zones().await
    }
}
