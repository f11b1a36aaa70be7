//! Redis, one server and a cluster of three.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use domain::{Day, Night, Shard};
use night_ledger::{Brake, Group, NightLedger, Owner, RedisLedger, ShardLease, Step, Stepped};
use plumbing::{Command, Redis, RedisSettings};

use crate::{
    embedded::Embedded,
    engine::Engine,
    large, pieces, random,
    rig::{check, granted, key, night, places, sealed, step},
};

pub(crate) struct OnRedis {
    redis: Redis,
}

impl OnRedis {
    fn at(variable: &str) -> Self {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let urls = std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is set by tests/run"));
        let (count, now) =
            (STARTED.fetch_add(1, Ordering::Relaxed), SystemTime::UNIX_EPOCH.elapsed().unwrap());
        let prefix = format!("test-{}-{count}-{}", std::process::id(), now.as_nanos());
        let settings = RedisSettings::at(urls.split(',').map(str::to_owned).collect(), prefix);
        Self { redis: Redis::new(&settings).unwrap() }
    }

    async fn one_server() -> Self {
        Self::at("STEPCAST_TEST_REDIS")
    }

    async fn cluster() -> Self {
        Self::at("STEPCAST_TEST_REDIS_CLUSTER")
    }

    /// The leases on the batches of the sample's seal.
    fn leases(&self) -> String {
        self.of_seal("leases")
    }

    /// A key of the sample's seal.
    fn of_seal(&self, kind: &str) -> String {
        let night = night();
        let tag = format!("n.{}.{}.{}", night.campaign, night.day, key().shard);
        self.redis.key(tag, format!("{kind}:{}", key().instant.timestamp()))
    }

    /// How long the first blocks of the claims are.
    async fn blocks(&self) -> Vec<u64> {
        let (mut lengths, key) = (Vec::new(), self.of_seal("claims"));
        for block in 0..3 {
            let length = Command::new("HSTRLEN").key(&key).arg(block);
            lengths.push(self.redis.read(length).await.unwrap());
        }
        lengths
    }
}

#[async_trait]
impl Engine for OnRedis {
    fn ledger(&self) -> Arc<dyn NightLedger> {
        Arc::new(RedisLedger::new(self.redis.clone()))
    }

    async fn kill(&mut self) {
        // as if their terms had run out: only the end of each lease is another one
        let fields = Command::new("HGETALL").key(self.leases());
        let fields: Vec<(Vec<u8>, Vec<u8>)> = self.redis.read(fields).await.unwrap();
        for (batch, mut lease) in fields.into_iter().filter(|(field, _)| field.len() == 16) {
            lease[8..21].copy_from_slice(b"0000000000001");
            let write = Command::new("HSET").key(self.leases()).arg(&batch[..]).arg(&lease[..]);
            self.redis.write::<u64>(write).await.unwrap();
        }
    }

    async fn clean(&mut self) {
        self.ledger().forget("20991231".parse().unwrap()).await.unwrap();
        let brakes = format!("brakes:{}:{}", night().campaign, night().day);
        for (tag, rest) in [
            ("nights", "n"),
            ("nights", "first_seen"),
            ("nights", &brakes),
            ("shards", "leases"),
            ("shards", "members:schedulers"),
            ("shards", "members:senders"),
            // a shard whose epoch is raised before the night has it
            ("n.nightly.20260607.7", "progress"),
        ] {
            let key = self.redis.key(tag, rest);
            self.redis.write::<u64>(Command::new("UNLINK").key(key)).await.unwrap();
        }
    }
}

/// The checks that only an engine for many processes passes.
macro_rules! redis_checks {
    ($start:expr) => {
        crate::engine::all_checks!($start, [#[ignore = "needs the servers that tests/run starts"]]);
        crate::engine::checks! { $start, [#[ignore = "needs the servers that tests/run starts"]],
            redis::a_shard_is_taken_over_when_its_lease_runs_out,
            redis::an_epoch_is_above_the_last_one_where_the_leases_were_lost,
            redis::members_lapse_with_their_terms,
            redis::a_batch_is_taken_over_when_its_lease_runs_out,
            redis::a_large_seal_goes_as_on_the_embedded_one,
            redis::like_claims_take_few_bytes_and_no_block_more_than_1_000,
            redis::nothing_of_a_night_stays_for_ever,
            redis::a_brake_on_a_night_far_ahead_stays_until_the_night_is_over,
        }

        #[test]
        #[ignore = "needs the servers that tests/run starts"]
        fn it_does_as_the_embedded_one() {
            crate::random::sample_acts(12, async |acts| {
                let mut engine = $start.await;
                crate::redis::beside_the_embedded_one(&mut engine, &acts).await;
                crate::engine::Engine::clean(&mut engine).await;
            });
        }

        #[test]
        #[ignore = "needs the servers that tests/run starts"]
        fn blocks_of_claims_change_their_form_and_say_the_same() {
            crate::random::samples(4, &crate::pieces::pieces(), async |pieces| {
                let mut engine = $start.await;
                crate::redis::pieces_beside_the_embedded_one(&mut engine, &pieces).await;
                crate::engine::Engine::clean(&mut engine).await;
            });
        }
    };
}

mod one_server {
    redis_checks!(crate::redis::OnRedis::one_server());
}

mod cluster {
    redis_checks!(crate::redis::OnRedis::cluster());
}

/// Random acts on Redis and on the embedded engine end the same, step by step.
pub(crate) async fn beside_the_embedded_one(engine: &mut OnRedis, acts: &[random::Act]) {
    random::run(&mut [engine, &mut Embedded::start().await], acts).await;
}

/// Random pieces of a large seal on Redis and on the embedded engine end the same, step by step, whatever form the blocks have.
pub(crate) async fn pieces_beside_the_embedded_one(engine: &mut OnRedis, pieces: &[pieces::Piece]) {
    let embedded = Embedded::start().await;
    let (ours, theirs) = (engine.ledger(), embedded.ledger());
    // a zero byte and runs of two bytes are never a full block's 1,000
    let (mut as_they_are, mut there_and_back) = ([false; 2], [false; 2]);
    pieces::work(&*ours, &*theirs, pieces, async || {
        let lengths = engine.blocks().await;
        assert!(lengths.iter().all(|&length| length <= 1_000), "{lengths:?}");
        for (block, length) in lengths.into_iter().take(2).enumerate() {
            there_and_back[block] |= as_they_are[block] && length < 1_000;
            as_they_are[block] = length == 1_000;
        }
    })
    .await;
    assert_eq!(there_and_back, [true; 2]);
}

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(600);

pub(crate) async fn a_shard_is_taken_over_when_its_lease_runs_out(engine: &mut OnRedis) {
    let ledger = engine.ledger();
    let lease = |owner, term| ledger.lease_shard(Shard(3), Owner(owner), term, 0);
    let first = lease(u64::MAX, LONG).await.unwrap();
    assert_eq!(lease(2, LONG).await.unwrap(), ShardLease::Taken);
    let above = ledger.lease_shard(Shard(3), Owner(2), LONG, 1 << 52).await.unwrap();
    assert_eq!(above, ShardLease::Taken, "whatever epoch is wanted");
    ledger.release_shard(Shard(3), Owner(2)).await.unwrap();
    assert_eq!(lease(u64::MAX, SHORT).await.unwrap(), first);
    let mut tick = tokio::time::interval(Duration::from_millis(10));
    let epoch = loop {
        tick.tick().await;
        if let ShardLease::Held(epoch) = lease(2, LONG).await.unwrap() {
            break epoch;
        }
    };
    assert!(matches!(first, ShardLease::Held(first) if first < epoch), "{first:?}, {epoch}");
    assert_eq!(lease(u64::MAX, LONG).await.unwrap(), ShardLease::Taken);
}

pub(crate) async fn an_epoch_is_above_the_last_one_where_the_leases_were_lost(engine: &mut OnRedis) {
    let ledger = engine.ledger();
    let lost = Command::new("UNLINK").key(engine.redis.key("shards", "leases"));
    let held = async |owner| match ledger.lease_shard(Shard(3), Owner(owner), LONG, 0).await.unwrap() {
        ShardLease::Held(epoch) => epoch,
        ShardLease::Taken => panic!("taken"),
    };
    let mut epochs = vec![held(1).await];
    for _ in 0..5 {
        ledger.release_shard(Shard(3), Owner(1)).await.unwrap();
        epochs.push(held(1).await);
    }
    engine.redis.write::<u64>(lost).await.unwrap();
    epochs.push(held(2).await);
    assert!(epochs.is_sorted_by(|a, b| a < b), "{epochs:?}");
}

pub(crate) async fn members_lapse_with_their_terms(engine: &mut OnRedis) {
    let ledger = engine.ledger();
    let announce = |owner, term| ledger.members(Group::Senders, Owner(owner), term);
    announce(9, LONG).await.unwrap();
    announce(u64::MAX, LONG).await.unwrap();
    assert_eq!(announce(10, LONG).await.unwrap(), [Owner(9), Owner(10), Owner(u64::MAX)]);
    announce(10, SHORT).await.unwrap();
    ledger.leave(Group::Senders, Owner(9)).await.unwrap();
    let mut tick = tokio::time::interval(Duration::from_millis(10));
    loop {
        tick.tick().await;
        let alive = announce(3, LONG).await.unwrap();
        assert!(alive.contains(&Owner(3)) && !alive.contains(&Owner(9)));
        if alive == [Owner(3), Owner(u64::MAX)] {
            break;
        }
    }
    assert_eq!(ledger.members(Group::Schedulers, Owner(1), LONG).await.unwrap(), [Owner(1)]);
}

pub(crate) async fn a_batch_is_taken_over_when_its_lease_runs_out(engine: &mut OnRedis) {
    let ledger = sealed(engine).await;
    let claim = |owner, term| Step { claim: places(1), term, ..step(1, 1, owner) };
    let first = granted(&*ledger, claim(1, SHORT)).await;
    let mut tick = tokio::time::interval(Duration::from_millis(10));
    let second = loop {
        tick.tick().await;
        match ledger.step(claim(2, LONG)).await.unwrap() {
            Stepped::Done(claims) => break claims,
            Stepped::Held(left) => assert!(left <= SHORT),
            Stepped::NoSeal => panic!(),
        }
    };
    assert_eq!(first.iter().flatten().count(), second.iter().flatten().count());
    assert!(second.iter().flatten().all(|claim| claim.maybe()));
    assert!(matches!(ledger.step(claim(1, LONG)).await.unwrap(), Stepped::Held(_)));
    check(&*ledger).await;
}

pub(crate) async fn a_large_seal_goes_as_on_the_embedded_one(engine: &mut OnRedis) {
    let embedded = Embedded::start().await;
    let (ours, theirs) = (engine.ledger(), embedded.ledger());
    large::seal(&*ours).await;
    large::seal(&*theirs).await;
    let (ours, theirs) = (large::in_pieces(&*ours).await, large::in_pieces(&*theirs).await);
    assert_eq!(ours.len(), theirs.len());
    for (step, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        assert!(ours == theirs, "after step {step}: {ours:?}\n{theirs:?}");
    }
}

pub(crate) async fn like_claims_take_few_bytes_and_no_block_more_than_1_000(engine: &mut OnRedis) {
    let ledger = engine.ledger();
    large::seal(&*ledger).await;
    let fresh = engine.blocks().await;
    assert!(fresh.iter().all(|&length| length < 30), "{fresh:?}");
    let delivered = night_ledger::Outcome::Delivered;
    let every = |nth: u32| (0..large::LARGE).filter(move |position| position % nth == 0);
    large::work(&*ledger, 0, every(5), &delivered).await;
    large::work(&*ledger, 1, every(4), &delivered).await;
    let unlike = engine.blocks().await;
    assert_eq!(unlike[..2], [1_000, 1_000]);
    assert!((746..1_000).contains(&unlike[2]), "the last block, of 745 positions, in runs: {unlike:?}");
    large::work(&*ledger, 2, every(2), &delivered).await;
    assert_eq!(engine.blocks().await, [1_000, 1_000, 745]);
    large::work(&*ledger, 3, every(1), &delivered).await;
    let done = engine.blocks().await;
    assert!(done.iter().all(|&length| length < 30), "{done:?}");
}

pub(crate) async fn nothing_of_a_night_stays_for_ever(engine: &mut OnRedis) {
    let ledger = sealed(engine).await;
    let one = places(1);
    granted(&*ledger, Step { claim: one.clone(), ..step(1, 1, 1) }).await;
    let moved = night_ledger::Outcome::Moved { channel: crate::rig::channels()[1].clone() };
    let done = crate::rig::all(&one, &moved);
    granted(&*ledger, Step { done, pending: Some(vec![1]), ..step(1, 1, 1) }).await;
    let later = Night { day: night().day.next(), ..night() };
    ledger.raise_epoch(&later, Shard(0), 1).await.unwrap();
    let tag = |night: &Night| format!("n.{}.{}.0", night.campaign, night.day);
    let seconds = key().instant.timestamp();
    let of_seal = ["seal", "claims", "moved", "channels", "pending", "worked", "leases"];
    let of_seal = of_seal.map(|kind| engine.redis.key(tag(&night()), format!("{kind}:{seconds}")));
    let of_shard = ["zones", "progress", "sums"].map(|kind| engine.redis.key(tag(&night()), kind));
    let raised = engine.redis.key(tag(&later), "progress");
    for key in of_seal.iter().chain(&of_shard).chain([&raised]) {
        let left: i64 = engine.redis.read(Command::new("TTL").key(key)).await.unwrap();
        assert!((20 * 86_400..=21 * 86_400).contains(&left), "{key}: {left}");
    }
    let forgotten = ledger.forget(later.day).await.unwrap();
    assert_eq!(forgotten, 1);
    for key in of_seal.iter().chain(&of_shard) {
        assert_eq!(engine.redis.read::<u64>(Command::new("EXISTS").key(key)).await.unwrap(), 0, "{key}");
    }
    engine.redis.write::<u64>(Command::new("UNLINK").key(raised)).await.unwrap();
}

pub(crate) async fn a_brake_on_a_night_far_ahead_stays_until_the_night_is_over(engine: &mut OnRedis) {
    let ledger = engine.ledger();
    // one of long ago, one of some months ahead, and the last there is
    let now = chrono::Utc::now();
    let ahead = Day::of(now.date_naive() + chrono::Days::new(100)).unwrap();
    for day in [Day::FIRST, ahead, Day::LAST] {
        let night = Night { day, ..night() };
        ledger.set_brake(&night, None, Some(Brake::Aborted)).await.unwrap();
        let key = engine.redis.key("nights", format_args!("brakes:{}:{day}", night.campaign));
        let left: i64 = engine.redis.read(Command::new("TTL").key(&key)).await.unwrap();
        let over = day.next().date().and_time(chrono::NaiveTime::MIN).and_utc();
        let wanted = (over - now).num_seconds().max(0) + 21 * 86_400;
        assert!((wanted - 60..=wanted + 60).contains(&left), "{day}: {left}, not {wanted}");
        engine.redis.write::<u64>(Command::new("UNLINK").key(key)).await.unwrap();
    }
}
