mod erasing;
mod feed;
mod keys;
mod reading;
mod reporting;
mod scripts;

use async_trait::async_trait;
use domain::{Day, Instant, Uid};
use plumbing::Redis;

use crate::{
    Cursor, Entry, Outbox, Position, Read, Report, Reported, StepStore, StoreError, Totals,
    bounds::check_reports,
};

/// The step store on Redis, one server or a cluster: its keys are told in `keys`.
///
/// What comes of reports is worked out here, with the code of every engine, from pages as they were read; a script writes them
/// only over what was read. It looks at ids, the watermark and erased users in the same step, and tells what it found: then it
/// is worked out again.
pub struct RedisSteps {
    redis: Redis,
}

impl RedisSteps {
    /// The step store of a server or cluster; nothing is asked of it yet.
    pub fn new(redis: Redis) -> Self {
        Self { redis }
    }
}

#[async_trait]
impl StepStore for RedisSteps {
    async fn report(&self, reports: Vec<Report>, now: Instant) -> Result<Vec<Reported>, StoreError> {
        check_reports(reports.len())?;
        reporting::report(&self.redis, reports, now).await
    }

    async fn entry(&self, uid: Uid, day: Day) -> Result<Option<Entry>, StoreError> {
        reading::entry(&self.redis, uid, day).await
    }

    async fn read_many(&self, uids: &[Uid], day: Day) -> Result<Vec<Read>, StoreError> {
        reading::read_many(&self.redis, uids, day).await
    }

    async fn freeze(&self, to: Instant) -> Result<(), StoreError> {
        feed::freeze(&self.redis, to).await
    }

    async fn frozen_to(&self) -> Result<Option<Instant>, StoreError> {
        feed::frozen_to(&self.redis).await
    }

    async fn erase(&self, uid: Uid) -> Result<(), StoreError> {
        erasing::erase(&self.redis, uid).await
    }

    async fn outbox(&self, part: u32) -> Result<Outbox, StoreError> {
        feed::outbox(&self.redis, part).await
    }

    async fn posted(&self, part: u32, upto: u64) -> Result<(), StoreError> {
        feed::posted(&self.redis, part, upto).await
    }

    async fn position(&self, part: u32) -> Result<Position, StoreError> {
        feed::position(&self.redis, part).await
    }

    async fn totals(&self, part: u32, day: Day, from: Option<Cursor>) -> Result<Totals, StoreError> {
        reading::totals(&self.redis, part, day, from).await
    }

    async fn days(&self, part: u32) -> Result<Vec<Day>, StoreError> {
        reading::days(&self.redis, part).await
    }
}
