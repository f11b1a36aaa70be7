use async_trait::async_trait;
use directory::{Applied, Change, Changed, Directory, PARTS, Page, Position, StoreError, User, UserPatch};
use domain::{ChannelName, Instant, Uid, Zone};

/// A directory with nobody in it: what is published is sealed already.
pub(super) struct Nobody;

#[async_trait]
impl Directory for Nobody {
    async fn apply(&self, _: Vec<Change>, _: Instant) -> Result<Vec<Applied>, StoreError> {
        Err(StoreError::Unavailable("this directory takes nobody".to_owned()))
    }

    async fn patch(&self, _: UserPatch, _: Instant) -> Result<Applied, StoreError> {
        Ok(Applied::Absent)
    }

    async fn users(&self, uids: &[Uid]) -> Result<Vec<Option<User>>, StoreError> {
        Ok(vec![None; uids.len()])
    }

    async fn drop_device(&self, _: Uid, _: &ChannelName, _: &str, _: Instant) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn changed(&self, _: &[Position]) -> Result<Vec<Changed>, StoreError> {
        let nothing = |_| Changed { upto: Position::default(), pages: Vec::new(), whole: true };
        Ok((0..PARTS).map(nothing).collect())
    }

    async fn pages(&self, _: u32, numbers: &[u32]) -> Result<Vec<Option<Page>>, StoreError> {
        Ok(vec![None; numbers.len()])
    }

    async fn zones(&self) -> Result<Vec<(Zone, u64)>, StoreError> {
        Ok(Vec::new())
    }
}
