//! From the seals into the broker: the scheduler's own ticks over the real ledger and a real quorum queue, every batch
//! confirmed, against a bare loop that publishes the same messages to the same queue.

mod nobody;

use std::{path::Path, sync::Arc, time::Instant};

use anyhow::ensure;
use chrono::TimeDelta;
use job_queue::encoding;

use self::nobody::Nobody;
use crate::{
    bar::Bar,
    bare::{self, Message},
    figures::{middle, per, rate},
    hour::{WINDOW, hour},
    measure::CpuPerUser,
    profile::Profile,
    registry::{Bench, Run, Running},
    schedule::scheduler,
    seals::{Uids, seals, write},
    servers::{Durability, RabbitMq, Redis},
    stores,
};

/// The bench.
pub(crate) const BENCH: Bench = Bench {
    name: "enqueue",
    about: "users/s from the seals into a quorum queue, confirmed, against a bare loop with the same messages",
    users: 10_000_000,
    memory: 200,
    run: |run| -> Running<'_> { Box::pin(enqueue(run)) },
};

/// Of what the bare loop does, at least.
const RATIO: f64 = 0.8;
/// Users a second, at least: a hundred million in a minute.
const RATE: f64 = 1_670_000.0;
/// Nights and bare loops in turn, of which the one with the middle ratio is reported: each lasts half a second only.
const ROUNDS: usize = 9;

/// The bench's names for one zone, and for thirty that share the instant.
const NAMES: [(usize, [&str; 5]); 2] = [
    (1, ["one_zone", "one_zone_rate", "one_zone_bare", "one_zone_batch", "one_zone_message"]),
    (
        30,
        [
            "thirty_zones",
            "thirty_zones_rate",
            "thirty_zones_bare",
            "thirty_zones_batch",
            "thirty_zones_message",
        ],
    ),
];

async fn enqueue(run: &mut Run<'_>) -> anyhow::Result<()> {
    let folder = crate::program::folder(run.program)?;
    let broker = RabbitMq::start(folder.path())?;
    for (zones, names) in NAMES {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(round(run, folder.path(), &broker, zones).await?);
        }
        let round = middle(&format!("{zones} zone(s), ratios"), rounds, Round::ratio)?;
        let (none, at_least) = (CpuPerUser::new, Some(Bar::RatioAtLeast(RATIO)));
        run.tell_against(names[0], round.ours, "users/s", Some(round.bare), round.cpu, at_least);
        run.tell(names[1], round.ours, "users/s", none(), Some(Bar::AtLeast(RATE)));
        run.tell(names[2], round.bare, "users/s", round.bare_cpu, None);
        run.tell(names[3], per(run.users, round.batches), "users/batch", none(), None);
        run.tell(names[4], per(round.bytes, round.batches), "bytes/batch", none(), None);
    }
    Ok(())
}

/// A night, and the bare loop with its messages.
struct Round {
    ours: f64,
    bare: f64,
    cpu: CpuPerUser,
    bare_cpu: CpuPerUser,
    batches: u64,
    bytes: u64,
}

impl Round {
    fn ratio(&self) -> f64 {
        self.ours / self.bare
    }
}

async fn round(run: &Run<'_>, folder: &Path, broker: &RabbitMq, zones: usize) -> anyhow::Result<Round> {
    let (url, queue) = (broker.url_with_user(), stores::work_queue());
    let published = publish(run, folder, broker, zones).await?;
    let profile = Profile::begin(&[("rabbitmq", broker.pid()), ("loop", std::process::id())])?;
    let bare = bare::publish(&url, &queue, &published.messages).await?;
    let bare_cpu = profile.per_user(run.users)?;
    // the next night finds the queue as this one did
    bare::drain(&url, &queue, published.messages.len()).await?;
    Ok(Round {
        ours: rate(run.users, published.seconds),
        bare: rate(run.users, bare.as_secs_f64()),
        cpu: published.cpu,
        bare_cpu,
        batches: u64::try_from(published.messages.len())?,
        bytes: published.messages.iter().map(|message| message.body.len() as u64).sum(),
    })
}

/// What the scheduler put into the queue.
struct Published {
    seconds: f64,
    cpu: CpuPerUser,
    messages: Vec<Message>,
}

async fn publish(run: &Run<'_>, folder: &Path, broker: &RabbitMq, zones: usize) -> anyhow::Result<Published> {
    let (users, hour) = (run.users, hour(chrono::Utc::now())?);
    let redis = Redis::start(folder, Durability::Wal)?;
    let ledger = stores::ledger(&redis, Durability::Wal)?;
    write(&*ledger, &seals(users, Uids::Dense, &hour, zones, "nightly")?).await?;
    let mut scheduler = scheduler(Arc::new(Nobody), stores::queue(broker)?, ledger, &["stub"])?;
    let ahead = scheduler.tick(hour.fires - TimeDelta::seconds(10)).await?;
    ensure!(ahead.published == 0, "published before the hour: {ahead:?}");

    let processes = [("redis", redis.pid()), ("rabbitmq", broker.pid()), ("scheduler", std::process::id())];
    let profile = Profile::begin(&processes)?;
    let (begun, mut published) = (Instant::now(), 0);
    loop {
        let now = hour.fires + TimeDelta::seconds(WINDOW.into()) + TimeDelta::from_std(begun.elapsed())?;
        let ticked = scheduler.tick(now).await?;
        published += ticked.published;
        if !ticked.publishing {
            break;
        }
    }
    let (seconds, cpu) = (begun.elapsed().as_secs_f64(), profile.per_user(users)?);
    let queue = stores::work_queue();
    let messages = bare::drain(&broker.url_with_user(), &queue, usize::try_from(published)?).await?;
    let mut reached = 0;
    for Message { body, .. } in &messages {
        reached += u64::try_from(encoding::decode(body)?.entries.len())?;
    }
    ensure!(reached == users, "{published} batches with {reached} users were published, not {users}");
    Ok(Published { seconds, cpu, messages })
}
