use std::sync::Arc;

use domain::{Day, Uid};
use job_queue::{AmqpSettings, Feed, RabbitFeed};
use plumbing::{Redis, RedisSettings};
use ranker::{Column, Status, follow};
use rig::{Proxy, Recount, RedisServer, until};
use step_store::{RedisSteps, StepStore};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    load::Load,
    stage::{NOON, SOON, Stage, stores, walked_at},
};

const USERS: u64 = 600;

/// A copy in the test's own process, over the stage's store and broker.
struct Copy {
    column: Arc<Column>,
    _stop: DropGuard,
}

impl Copy {
    fn of(url: &str, stage: &Stage) -> Self {
        let redis = Redis::new(&RedisSettings::at(vec![url.to_owned()], "day")).unwrap();
        let steps: Arc<dyn StepStore> = Arc::new(RedisSteps::new(redis));
        let feed: Arc<dyn Feed> =
            Arc::new(RabbitFeed::open(&AmqpSettings::at(stage.broker.url(), "day")).unwrap());
        let (column, stop) = (Arc::<Column>::default(), CancellationToken::new());
        tokio::spawn(follow(Arc::clone(&column), steps, feed, stop.clone()));
        Self { column, _stop: stop.drop_guard() }
    }

    /// Waits until the copy says that it has everything and is equal to a recount: what changed within the last two seconds may
    /// still be on its way.
    async fn equals(&self, recount: &Recount) {
        until("the copy to equal the recount", SOON, async || {
            let same = |(uid, day, counted): (u64, chrono::NaiveDate, u32)| {
                self.column.steps(Day::of(day).unwrap(), Uid(uid)) == Some(counted)
            };
            (self.column.status() == Status::Current && recount.numbers().all(same)).then_some(())
        })
        .await;
    }

    async fn current(&self) {
        until("the copy to be current", SOON, async || {
            (self.column.status() == Status::Current).then_some(())
        })
        .await;
    }
}

/// The publisher, the broker and the store are killed in turn under load.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_equals_the_store_after_publisher_broker_and_redis_were_killed() {
    let mut redis = RedisServer::start(&[]).await;
    let mut stage = Stage::new(&stores(&[redis.url()], false, "wal"), NOON, USERS).await;
    let copy = Copy::of(&redis.url(), &stage);
    for name in ["a", "b"] {
        stage.start(name).await;
    }
    let load = Load::begin(stage.gateways.values().cloned().collect(), 2, USERS, walked_at(), 11);
    load.more(10).await;
    copy.current().await;
    stage.fleet.kill("a").await;
    load.more(10).await;
    stage.fleet.restart("a").await;
    stage.broker.kill();
    load.more(10).await;
    until("the copy to say that it is behind", SOON, async || {
        (copy.column.status() != Status::Current).then_some(())
    })
    .await;
    stage.broker.restart().await;
    load.more(10).await;
    redis.kill();
    redis.restart().await;
    load.more(10).await;
    let counted = load.end().await;
    copy.equals(&counted.recount).await;
    stage.agrees(&counted.recount).await;
}

/// A replica that was promoted without the last of what its primary had answered: the store steps back, and so does the copy.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_steps_back_with_a_store_that_was_failed_over_to_an_older_replica() {
    let (mut first, second) =
        (RedisServer::start(&[]).await, RedisServer::start(&["--repl-diskless-sync-delay", "0"]).await);
    let name = Proxy::start(first.address()).await;
    let url = format!("redis://{}", name.address());
    let mut stage = Stage::new(&stores(std::slice::from_ref(&url), false, "wal"), NOON, USERS).await;
    let copy = Copy::of(&url, &stage);
    stage.start("a").await;
    let gateways = || stage.gateways.values().cloned().collect();
    let early = Load::begin(gateways(), 1, USERS, walked_at(), 21);
    early.more(10).await;
    let early = early.end().await;
    second.cli(&["REPLICAOF", "127.0.0.1", &first.port().to_string()]).await;
    until("the replica to have everything", SOON, async || {
        let of = async |server: &RedisServer, name: &str| {
            let info = server.cli(&["INFO", "replication"]).await;
            info.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok())
        };
        let (written, copied) =
            (of(&first, "master_repl_offset:").await?, of(&second, "slave_repl_offset:").await?);
        let up = second.cli(&["INFO", "replication"]).await.contains("master_link_status:up");
        (up && copied >= written).then_some(())
    })
    .await;
    second.cli(&["REPLICAOF", "NO", "ONE"]).await;
    // what only the first one has
    let late = Load::begin(gateways(), 1, USERS, walked_at(), 22);
    late.more(10).await;
    late.end().await;
    copy.current().await;
    first.kill();
    name.point_to(second.address());
    copy.equals(&early.recount).await;
    stage.agrees(&early.recount).await;
}
