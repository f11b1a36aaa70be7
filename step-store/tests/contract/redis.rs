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
use domain::{Day, Uid};
use plumbing::{Command, Redis, RedisSettings};
use step_store::{RedisSteps, StepStore, part};

use crate::engine::{Engine, add, give};

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

    fn other(&self) -> Arc<dyn StepStore> {
        Arc::new(RedisSteps::new(Redis::new(&self.settings).unwrap()))
    }

    async fn damage(&self, uid: Uid, day: Day) {
        let key = self.redis.key(format_args!("s.{}", part(uid)), format_args!("steps:{day}"));
        let put = Command::new("HSET").key(key).arg(uid.0 / 32).arg(&b"\x01\0\0\0rubbish"[..]);
        self.redis.write::<u64>(put).await.unwrap();
    }

    /// A new client; the server is ended and started by the tests of the whole program.
    async fn restart(&mut self) {
        self.redis = Redis::new(&self.settings).unwrap();
        self.store = Some(Arc::new(RedisSteps::new(self.redis.clone())));
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
    async fn ids_have_a_time_to_live() {
        super::ids_end(&OnRedis::start("STEPCAST_TEST_REDIS").await).await;
    }
}

mod cluster {
    use super::OnRedis;

    crate::engine::all_checks!(
        OnRedis::start("STEPCAST_TEST_REDIS_CLUSTER"),
        #[ignore = "needs the servers that tests/run starts"]
    );
}

/// Those of 4 to 7 June, 48 h after five past the end of the 7th in the westernmost zone; seen from 18:00 UTC on the 7th.
async fn ids_end(engine: &OnRedis) {
    give(&engine.store(), vec![add(1, 5, "a")]).await;
    let key = engine.redis.key("s.0", "ids:5152:1");
    let left = engine.redis.read::<i64>(Command::new("TTL").key(&key)).await.unwrap();
    let wanted = (6 + 48 + 12) * 3_600 + 300;
    assert!((wanted - 60..=wanted).contains(&left), "{left}");
    engine.redis.erase().await.unwrap();
}
