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
use directory::{Directory, RedisDirectory};
use domain::Uid;
use plumbing::{Command, Redis, RedisSettings};

use crate::engine::{Engine, all_checks, loaded, noon, put, told};

/// The directory under a prefix of its own, which is emptied at the end.
struct OnRedis {
    redis: Redis,
    directory: Arc<RedisDirectory>,
}

impl OnRedis {
    async fn start(variable: &str) -> Self {
        let urls = std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set: see tests/run"));
        let prefix = format!("directory-{:016x}", RandomState::new().hash_one(0));
        let settings = RedisSettings::at(urls.split(',').map(str::to_owned).collect(), prefix);
        let redis = Redis::new(&settings).unwrap();
        redis.check().await.unwrap();
        Self { directory: Arc::new(RedisDirectory::new(redis.clone())), redis }
    }
}

#[async_trait]
impl Engine for OnRedis {
    fn directory(&self) -> Arc<dyn Directory> {
        Arc::clone(&self.directory) as _
    }

    /// For a user of part 0, such as the first 256.
    async fn plant_record(&self, uid: Uid, bytes: &[u8]) {
        let key = self.redis.key("d.0", format_args!("u:{uid}"));
        self.redis.write::<()>(Command::new("SET").key(key).arg(bytes)).await.unwrap();
    }

    fn rounds(&self) -> usize {
        25
    }

    async fn end(&self) {
        self.redis.erase().await.unwrap();
    }
}

mod server {
    use super::{OnRedis, all_checks};

    all_checks!(
        OnRedis::start("STEPCAST_TEST_REDIS"),
        #[ignore = "needs the servers that tests/run starts"]
    );

    #[tokio::test]
    #[ignore = "needs the servers that tests/run starts"]
    async fn a_column_notices_that_the_server_lost_what_it_had() {
        super::notices_a_loss(&OnRedis::start("STEPCAST_TEST_REDIS").await).await;
    }
}

mod cluster {
    use super::{OnRedis, all_checks};

    all_checks!(
        OnRedis::start("STEPCAST_TEST_REDIS_CLUSTER"),
        #[ignore = "needs the servers that tests/run starts"]
    );
}

/// A part of the server's data goes back to what it was, and is written on from there past the number it had.
async fn notices_a_loss(engine: &OnRedis) {
    let (directory, redis) = (engine.directory(), &engine.redis);
    let keys = ["pages", "log", "head", "zones", "u:0", "u:1"].map(|rest| redis.key("d.0", rest));
    directory.apply(vec![put(0, "Asia/Tokyo", &[])], noon()).await.unwrap();
    let saved: Vec<Option<Vec<u8>>> =
        redis.read_all(keys.iter().map(|key| Command::new("DUMP").key(key)).collect()).await.unwrap();
    directory.apply(vec![put(1, "Asia/Tokyo", &[])], noon()).await.unwrap();
    let mut column = loaded(&*directory, noon()).await;
    assert_eq!(column.users(), 2);
    for (key, saved) in keys.iter().zip(saved) {
        redis.write::<()>(Command::new("DEL").key(key)).await.unwrap();
        if let Some(saved) = saved {
            redis.write::<()>(Command::new("RESTORE").key(key).arg(0).arg(saved)).await.unwrap();
        }
    }
    for zone in ["Asia/Seoul", "Europe/Berlin", "America/Lima"] {
        directory.apply(vec![put(0, zone, &[])], noon()).await.unwrap();
    }
    let refreshed = column.refresh(&*directory, noon()).await.unwrap();
    assert_eq!((refreshed.whole, column.users()), (1, 1));
    assert_eq!(told(&column, noon()), told(&loaded(&*directory, noon()).await, noon()));
    engine.end().await;
}
