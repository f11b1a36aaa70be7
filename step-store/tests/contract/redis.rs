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
use domain::Uid;
use plumbing::{Command, Redis, RedisSettings};
use step_store::{RedisSteps, StepStore};

use crate::engine::{Engine, add, day};

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
    async fn an_entry_that_is_no_number_is_refused_and_left() {
        super::refuses_what_is_no_number(&OnRedis::start("STEPCAST_TEST_REDIS").await).await;
    }
}

mod cluster {
    use super::OnRedis;

    crate::engine::all_checks!(
        OnRedis::start("STEPCAST_TEST_REDIS_CLUSTER"),
        #[ignore = "needs the servers that tests/run starts"]
    );
}

async fn refuses_what_is_no_number(engine: &OnRedis) {
    let store = engine.store();
    store.add(vec![add(1, 5)]).await.unwrap();
    let key = engine.redis.key("s.0", "steps:20260607:2");
    engine.redis.write::<()>(Command::new("SET").key(&key).arg("many")).await.unwrap();
    assert!(store.read(Uid(2), day("20260607")).await.is_err());
    assert!(store.add(vec![add(1, 5), add(2, 5)]).await.is_err());
    assert_eq!(store.read(Uid(1), day("20260607")).await.unwrap(), 5);
    engine.redis.erase().await.unwrap();
}
