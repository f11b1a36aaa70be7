mod erasing;
mod found;
mod going;
mod keys;
mod load;
mod reading;
mod reporting;
mod scripts;
#[cfg(test)]
mod tests;
mod turns;
mod value;

use std::time::Duration;

use async_trait::async_trait;
use domain::{Day, Instant, Uid};
use plumbing::{Command, Redis};
use xxhash_rust::xxh3::xxh3_64;

use self::{
    scripts::{FREEZE, LEASE, OUTBOX, POSITION, POSTED},
    turns::Turns,
};
use crate::{
    Cursor, Entry, MOST_REPORTS, Outbox, PARTS, Position, Posting, Read, Report, Reported, StepStore,
    StoreError, Totals,
    outbox::{MOST_PAGES, MOST_READ, unreadable},
    page::Page,
    part,
};

/// The step store on Redis.
///
/// The pages of a part's `Day` are the hash `{prefix}:{region}:{s.<part>}:steps:<day>`; `keys.rs` has every key.
pub struct RedisSteps {
    redis: Redis,
    turns: Turns,
}

impl RedisSteps {
    /// The step store of a server or cluster.
    pub fn new(redis: Redis) -> Self {
        Self { redis, turns: Turns::default() }
    }
}

#[async_trait]
impl StepStore for RedisSteps {
    async fn report(&self, reports: Vec<Report>, now: Instant) -> Result<Vec<Reported>, StoreError> {
        if reports.len() > MOST_REPORTS {
            return Err(StoreError::Full { what: "a call of reports", limit: MOST_REPORTS as u64 });
        }
        let _turn = self.turns.take(reports.iter().map(|report| part(report.uid))).await;
        reporting::report(&self.redis, reports, now).await
    }

    async fn entry(&self, uid: Uid, day: Day) -> Result<Option<Entry>, StoreError> {
        let key = keys::pages(&self.redis, part(uid), day);
        let held = self
            .redis
            .read::<Option<Vec<u8>>>(Command::new("HGET").key(key).arg(Page::number_of(uid)))
            .await?;
        let Some(held) = held else { return Ok(None) };
        Ok(value::page(&held).map_err(unreadable)?.entry(uid))
    }

    async fn read_many(&self, uids: &[Uid], day: Day) -> Result<Vec<Read>, StoreError> {
        reading::read_many(&self.redis, uids, day).await
    }

    async fn freeze(&self, to: Instant) -> Result<(), StoreError> {
        let raise = |part| FREEZE.call(&[keys::frozen(&self.redis, part)]).arg(to.timestamp_millis());
        self.redis.write_all::<u8>((0..PARTS).map(raise).collect()).await.map(drop)
    }

    async fn frozen_to(&self) -> Result<Option<Instant>, StoreError> {
        let ask = |part| Command::new("GET").key(keys::frozen(&self.redis, part));
        let held = self.redis.read_all::<Option<i64>>((0..PARTS).map(ask).collect()).await?;
        // none is below any
        Ok(held.into_iter().min().flatten().and_then(Instant::from_timestamp_millis))
    }

    async fn erase(&self, uid: Uid) -> Result<(), StoreError> {
        erasing::erase(&self.redis, uid).await
    }

    async fn outbox(&self, part: u32) -> Result<Outbox, StoreError> {
        let ask =
            OUTBOX.call(&[keys::feed(&self.redis, part), keys::outbox(&self.redis, part)]).arg(MOST_READ);
        let (last, posted, first, postings) = self.redis.read::<(u64, u64, u64, Vec<Vec<u8>>)>(ask).await?;
        let postings = postings.into_iter().map(|bytes| Posting::new(bytes.into())).collect();
        Ok(Outbox { first, postings, posted, last })
    }

    async fn posted(&self, part: u32, upto: u64) -> Result<(), StoreError> {
        let forget = POSTED.call(&[keys::feed(&self.redis, part), keys::outbox(&self.redis, part)]).arg(upto);
        self.redis.write::<u8>(forget).await.map(drop)
    }

    async fn may_post(&self, owner: u64, term: Duration) -> Result<bool, StoreError> {
        let term = u64::try_from(term.as_millis()).unwrap_or(u64::MAX);
        let take = LEASE.call(&[keys::lease(&self.redis)]).arg(owner).arg(term);
        Ok(self.redis.write::<u8>(take).await? == 1)
    }

    async fn position(&self, part: u32) -> Result<Position, StoreError> {
        let ask = POSITION.call(&[keys::feed(&self.redis, part)]);
        let (history, last) = self.redis.read::<(String, u64)>(ask).await?;
        Ok(Position { lineage: xxh3_64(history.as_bytes()), last })
    }

    async fn totals(&self, part: u32, day: Day, from: Option<Cursor>) -> Result<Totals, StoreError> {
        let from = from.map_or(0, |Cursor(from)| from);
        let scan = Command::new("HSCAN").key(keys::pages(&self.redis, part, day));
        let scan = scan.arg(from).arg("COUNT").arg(MOST_PAGES);
        let (next, pages) = self.redis.read::<(u64, Vec<(u64, Vec<u8>)>)>(scan).await?;
        let mut totals = Vec::new();
        for (number, held) in pages {
            if let Ok(page) = value::page(&held) {
                totals.extend(page.numbers(number));
            }
        }
        Ok(Totals { totals, next: (next != 0).then_some(Cursor(next)) })
    }

    async fn days(&self, part: u32) -> Result<Vec<Day>, StoreError> {
        days(&self.redis, part).await
    }
}

/// The `Day`s of a part, in order.
async fn days(redis: &Redis, part: u32) -> Result<Vec<Day>, StoreError> {
    let numbers = redis.read::<Vec<u32>>(Command::new("SMEMBERS").key(keys::days(redis, part))).await?;
    let mut days: Vec<_> = numbers.into_iter().filter_map(Day::from_number).collect();
    days.sort_unstable();
    Ok(days)
}
