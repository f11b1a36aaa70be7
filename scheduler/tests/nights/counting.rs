//! A directory that counts how many of its pages are read.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use directory::{
    Applied, Change, Changed, Directory, EmbeddedDirectory, Page, Position, StoreError, User, UserPatch,
};
use domain::{ChannelName, Instant, Uid, Zone};

pub(crate) struct Counting {
    inner: EmbeddedDirectory,
    pages: AtomicU64,
}

impl Counting {
    pub(crate) fn over(inner: EmbeddedDirectory) -> Self {
        Self { inner, pages: AtomicU64::new(0) }
    }

    /// Pages read since its beginning.
    pub(crate) fn pages_read(&self) -> u64 {
        self.pages.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Directory for Counting {
    async fn apply(&self, changes: Vec<Change>, now: Instant) -> Result<Vec<Applied>, StoreError> {
        self.inner.apply(changes, now).await
    }

    async fn patch(&self, patch: UserPatch, now: Instant) -> Result<Applied, StoreError> {
        self.inner.patch(patch, now).await
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

    async fn changed(&self, since: &[Position]) -> Result<Vec<Changed>, StoreError> {
        self.inner.changed(since).await
    }

    async fn pages(&self, part: u32, numbers: &[u32]) -> Result<Vec<Option<Page>>, StoreError> {
        self.pages.fetch_add(u64::try_from(numbers.len()).unwrap(), Ordering::SeqCst);
        self.inner.pages(part, numbers).await
    }

    async fn zones(&self) -> Result<Vec<(Zone, u64)>, StoreError> {
        self.inner.zones().await
    }
}
