mod commands;
mod keys;
mod writing;

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use domain::{ChannelName, Instant, Uid, Zone};
use plumbing::Redis;

use crate::{
    Applied, Change, Changed, Directory, PARTS, Page, Position, RosterRow, StoreError, User, UserPatch,
    bounds::{check_changes, check_pages},
    edit::Step,
    record::Decoder,
};

/// The directory in Redis, on one server or on a cluster. A user's record, page and the counts change in one step.
pub struct RedisDirectory {
    redis: Redis,
}

impl RedisDirectory {
    /// The directory of a Redis; nothing is asked of it yet.
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }

    /// Puts pages up that are not there yet, as [`Directory::apply`] leaves them at `now`, without any record: who measures a roster
    /// of a hundred million users has no room for their records.
    #[doc(hidden)]
    pub async fn put_pages(&self, pages: &[(u32, Vec<RosterRow>)], now: Instant) -> Result<(), StoreError> {
        writing::put_pages(&self.redis, pages, now).await
    }
}

#[async_trait]
impl Directory for RedisDirectory {
    async fn apply(&self, changes: Vec<Change>, now: Instant) -> Result<Vec<Applied>, StoreError> {
        check_changes(changes.len())?;
        writing::take(&self.redis, &changes.into_iter().map(Step::from).collect::<Vec<_>>(), now).await
    }

    async fn patch(&self, patch: UserPatch, now: Instant) -> Result<Applied, StoreError> {
        let applied = writing::take(&self.redis, &[Step::Patch(patch)], now).await?;
        Ok(applied.into_iter().next().unwrap_or(Applied::Absent))
    }

    async fn users(&self, uids: &[Uid]) -> Result<Vec<Option<User>>, StoreError> {
        let records = self.redis.read_values(&keys::records(&self.redis, uids)).await?;
        let mut decoder = Decoder::default();
        let user = |(record, uid): (&Option<Vec<u8>>, &Uid)| {
            record.as_deref().map(|record| decoder.user(*uid, record)).transpose()
        };
        records.iter().zip(uids).map(user).collect()
    }

    async fn drop_device(
        &self,
        uid: Uid,
        channel: &ChannelName,
        address: &str,
        gone_at: Instant,
    ) -> Result<bool, StoreError> {
        let step = Step::Drop { uid, channel: channel.clone(), address: address.to_owned(), gone_at };
        Ok(writing::take(&self.redis, &[step], gone_at).await? == [Applied::Updated])
    }

    async fn changed(&self, since: &[Position]) -> Result<Vec<Changed>, StoreError> {
        let since = since.iter().copied().chain(std::iter::repeat(Position::default()));
        let ask = (0..PARTS).zip(since).map(|(part, since)| commands::changed(&self.redis, part, since));
        let answers = self.redis.read_all::<Vec<String>>(ask.collect()).await?;
        let changed = answers.iter().map(|answer| changed_of(answer));
        changed
            .map(|c| c.ok_or_else(|| StoreError::corrupt("the directory's change log", "an entry is none")))
            .collect()
    }

    async fn pages(&self, part: u32, numbers: &[u32]) -> Result<Vec<Option<Page>>, StoreError> {
        check_pages(part, numbers)?;
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let found =
            self.redis.read::<Vec<Option<Vec<u8>>>>(commands::pages(&self.redis, part, numbers)).await?;
        let page = |(bytes, number): (Option<Vec<u8>>, &u32)| Some(Page::new(*number, bytes?));
        Ok(found.into_iter().zip(numbers).map(page).collect())
    }

    async fn zones(&self) -> Result<Vec<(Zone, u64)>, StoreError> {
        let ask = (0..PARTS).map(|part| commands::zones(&self.redis, part)).collect();
        let mut counts = BTreeMap::<Zone, u64>::new();
        for (field, count) in self.redis.read_all::<HashMap<String, u64>>(ask).await?.into_iter().flatten() {
            let wrong = || StoreError::corrupt("a zone of the directory", &field);
            let (kind, name) = field.split_once(':').ok_or_else(wrong)?;
            let zone = name.parse().map_err(|e| StoreError::corrupt("a zone of the directory", e))?;
            *counts.entry(zone).or_default() += if kind == "now" { count } else { 0 };
        }
        Ok(counts.into_iter().collect())
    }
}

/// What `changed.lua` answers.
fn changed_of(answer: &[String]) -> Option<Changed> {
    let [number, mark, whole, pages @ ..] = answer else { return None };
    let upto = Position { number: number.parse().ok()?, mark: u64::from_str_radix(mark, 16).ok()? };
    let mut pages = pages.iter().map(|page| page.parse().ok()).collect::<Option<Vec<_>>>()?;
    pages.sort_unstable();
    pages.dedup();
    Some(Changed { upto, pages, whole: whole == "1" })
}
