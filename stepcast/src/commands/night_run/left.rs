use domain::{CampaignName, Instant, Night, SealKey, Shard, ShardCount};
use futures_util::{StreamExt, TryStreamExt, stream};
use night_ledger::{NightLedger, Progress, StoreError};

/// Shards of nights that are read at once.
const AT_ONCE: usize = 32;

/// Who is left of some campaigns: users of seals that have fired who are neither delivered nor closed. The ledger knows, whoever
/// published and whoever sends; a queue need not tell what is being worked.
pub(super) struct Left<'a> {
    ledger: &'a dyn NightLedger,
    shards: ShardCount,
    campaigns: Vec<CampaignName>,
    /// Where some were at the last look: asked first at the next, so that most looks are one question.
    last: Option<(Night, Shard)>,
}

impl<'a> Left<'a> {
    /// Of these campaigns. `shards` is for a night that has no number of its own yet.
    pub(super) fn of(
        ledger: &'a dyn NightLedger,
        shards: ShardCount,
        campaigns: impl IntoIterator<Item = CampaignName>,
    ) -> Self {
        Self { ledger, shards, campaigns: campaigns.into_iter().collect(), last: None }
    }

    /// Whether anybody is left at `now` who can still be pushed: the deadline is ahead.
    pub(super) async fn in_time(&mut self, now: Instant) -> Result<bool, StoreError> {
        let some = |seals: &[(SealKey, Progress)]| {
            seals
                .iter()
                .any(|(key, seal)| key.instant <= now && seal.deadline > now.timestamp() && seal.open > 0)
        };
        if let Some((night, shard)) = &self.last {
            if some(&self.ledger.seals(night, *shard).await?) {
                return Ok(true);
            }
            self.last = None;
        }
        let places = self.places().await?;
        let ledger = self.ledger;
        let reading = stream::iter(places).map(async |(night, shard)| {
            ledger.seals(&night, shard).await.map(|seals| ((night, shard), seals))
        });
        let reading = reading.buffer_unordered(AT_ONCE);
        let mut found = std::pin::pin!(reading.try_filter(|(_, seals)| std::future::ready(some(seals))));
        self.last = found.try_next().await?.map(|(place, _)| place);
        Ok(self.last.is_some())
    }

    /// How many users are left at `now`, whatever their deadline.
    pub(super) async fn users(&self, now: Instant) -> Result<u64, StoreError> {
        let ledger = self.ledger;
        let reading =
            stream::iter(self.places().await?).map(async |(night, shard)| ledger.seals(&night, shard).await);
        let open = |seals: Vec<(SealKey, Progress)>| {
            seals.iter().filter(|(key, _)| key.instant <= now).map(|(_, seal)| seal.open).sum::<u64>()
        };
        reading
            .buffer_unordered(AT_ONCE)
            .try_fold(0_u64, |sum, seals| std::future::ready(Ok(sum.saturating_add(open(seals)))))
            .await
    }

    /// All shards of the campaigns' nights, the latest night first.
    async fn places(&self) -> Result<Vec<(Night, Shard)>, StoreError> {
        let mut places = Vec::new();
        for night in self.ledger.nights().await?.into_iter().rev() {
            if self.campaigns.contains(&night.campaign) {
                let n = self.ledger.shard_count(&night, self.shards).await?;
                places.extend(Shard::all(n).map(|shard| (night.clone(), shard)));
            }
        }
        Ok(places)
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::testing::Town;

    #[tokio::test]
    async fn who_was_published_is_left_until_the_push_is_recorded() {
        let town = Town::new(50, 50).await;
        town.published().await;
        let now = town.program.clock.now();
        let shards = town.program.config.scheduler.shards;
        let ledger = &*town.program.parts.ledger;
        let mut left = Left::of(ledger, shards, [town.night().campaign]);
        let hour_not_come = now - TimeDelta::minutes(1);
        let over = now + TimeDelta::days(2);
        for (at, in_time, users) in [(hour_not_come, false, 0), (now, true, 50), (over, false, 50)] {
            assert_eq!((left.in_time(at).await.unwrap(), left.users(at).await.unwrap()), (in_time, users));
        }
        let mut others = Left::of(ledger, shards, ["morning".parse().unwrap()]);
        assert_eq!((others.in_time(now).await.unwrap(), others.users(now).await.unwrap()), (false, 0));
        assert!(left.in_time(now).await.unwrap());
        town.night_over().await;
        let now = town.program.clock.now();
        assert_eq!((left.in_time(now).await.unwrap(), left.users(now).await.unwrap()), (false, 0));
    }
}
