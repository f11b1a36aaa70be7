//! Redis, one server and a cluster.

#![allow(
    clippy::disallowed_methods,
    reason = "the servers' addresses come from the environment of the test run"
)]

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use async_trait::async_trait;
use chrono::TimeDelta;
use domain::{Day, Uid};
use plumbing::{Command, Redis, RedisSettings};
use step_store::{Amount, RedisSteps, StepStore};

use crate::engine::{Engine, noon, report, seventh, told};

/// The store under a prefix of its own, which is emptied at the end.
struct OnRedis {
    settings: RedisSettings,
    redis: Redis,
    store: Option<Arc<RedisSteps>>,
}

impl OnRedis {
    async fn start(variable: &str) -> Self {
        let urls = std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set: see tests/run"));
        let prefix = format!("steps-{:016x}", RandomState::new().hash_one(0));
        let settings = RedisSettings::at(urls.split(',').map(str::to_owned).collect(), prefix);
        let redis = Redis::new(&settings).unwrap();
        redis.check().await.unwrap();
        Self { settings, store: Some(Arc::new(RedisSteps::new(redis.clone()))), redis }
    }
}

#[async_trait]
impl Engine for OnRedis {
    fn store(&self) -> Arc<dyn StepStore> {
        Arc::clone(self.store.as_ref().unwrap()) as _
    }

    /// A new client; the server is ended and started by the tests of the whole program.
    async fn restart(&mut self) {
        self.redis = Redis::new(&self.settings).unwrap();
        self.store = Some(Arc::new(RedisSteps::new(self.redis.clone())));
    }

    async fn plant_page(&self, uid: Uid, day: Day, bytes: &[u8]) {
        let key = self
            .redis
            .key(format_args!("s.{}", step_store::part(uid)), format_args!("steps:{day}:{}", uid.0 / 32));
        let value = [&7u32.to_le_bytes()[..], bytes].concat();
        self.redis.write::<()>(Command::new("SET").key(&key).arg(value)).await.unwrap();
    }

    async fn end(&mut self) {
        self.redis.erase().await.unwrap();
    }
}

mod server {
    use super::OnRedis;

    crate::engine::all_checks!(
        OnRedis::start("STEPCAST_TEST_REDIS"),
        #[ignore = "needs the servers that tests/run starts"]
    );

    #[tokio::test]
    #[ignore = "needs the servers that tests/run starts"]
    async fn sets_of_ids_live_as_long_as_they_are_wanted() {
        super::sets_have_a_life(&mut OnRedis::start("STEPCAST_TEST_REDIS").await).await;
    }
}

mod cluster {
    use super::OnRedis;

    crate::engine::all_checks!(
        OnRedis::start("STEPCAST_TEST_REDIS_CLUSTER"),
        #[ignore = "needs the servers that tests/run starts"]
    );
}

/// Ids of 7 June go 60 h and 5 min after the end of their epoch, which is on 8 June: counted from noon of the 7th.
async fn sets_have_a_life(engine: &mut OnRedis) {
    told(&*engine.store(), vec![report(1, Amount::Add(5), Some(1))]).await;
    let epoch = (seventh().date() - Day::FIRST.date()).num_days() / 4;
    let key = engine.redis.key("s.0", format_args!("ids:{epoch}:1"));
    let left = engine.redis.read::<i64>(Command::new("TTL").key(&key)).await.unwrap();
    let ends = Day::FIRST.date() + TimeDelta::days((epoch + 1) * 4);
    let wanted = (ends.and_hms_opt(0, 0, 0).unwrap().and_utc() + TimeDelta::minutes(60 * 60 + 5) - noon())
        .num_seconds();
    assert!((wanted - 60..=wanted).contains(&left), "{left}, {wanted} is wanted");
    // a further id does not change it
    told(&*engine.store(), vec![report(1, Amount::Add(5), Some(2))]).await;
    assert!(engine.redis.read::<i64>(Command::new("TTL").key(&key)).await.unwrap() <= left);
    engine.end().await;
}
