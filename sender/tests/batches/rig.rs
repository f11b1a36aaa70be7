//! A sender over real embedded stores, and a provider that answers as it is told.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use directory::{Change, EmbeddedDirectory, NewDevice, NewUser};
use domain::{
    BatchId, Campaign, ChannelName, Day, Instant, Language, NoSteps, SealKey, Shard, ShardCount, Uid,
};
use job_queue::{
    Batch, BatchEntry, BatchZone, Consumer, DeadId, DeadLetter, Delivery, Depth, EmbeddedQueue, JobQueue,
    Ladder, Limits as QueueLimits, StoreError, encoding,
};
use night_ledger::{Due, EmbeddedLedger, Owner, Seal, SealZone};
use plumbing::{Clock, File, Span};
use sender::{
    Ended, Guard, Limits, Line, Metrics, Parts, Settings, Texts,
    channel::{Channel, Fault, Push, Quota},
    work,
};
use step_store::{EmbeddedSteps, Report};
use tokio_util::sync::CancellationToken;

use crate::ledger::Flawed;

/// A push as the provider saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) uid: u64,
    pub(crate) identity: String,
    pub(crate) key: String,
    pub(crate) address: String,
    pub(crate) body: String,
}

type Answer = Arc<dyn Fn(&Seen, usize) -> Result<(), Fault> + Send + Sync>;

/// Answers each push by its number for that address: 1 for the first.
#[derive(Clone)]
pub(crate) struct Provider {
    answer: Answer,
    pub(crate) seen: Arc<Mutex<Vec<Seen>>>,
}

impl Provider {
    pub(crate) fn new(answer: impl Fn(&Seen, usize) -> Result<(), Fault> + Send + Sync + 'static) -> Self {
        Self { answer: Arc::new(answer), seen: Arc::default() }
    }

    pub(crate) fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

#[async_trait]
impl Channel for Provider {
    async fn push(&self, push: &Push<'_>) -> Result<(), Fault> {
        let seen = Seen {
            uid: push.identity.uid.0,
            identity: push.identity.to_string(),
            key: push.key.to_owned(),
            address: push.address.to_owned(),
            body: push.body.to_owned(),
        };
        let times = {
            let mut all = self.seen.lock().unwrap();
            all.push(seen.clone());
            all.iter().filter(|s| s.address == seen.address).count()
        };
        (self.answer)(&seen, times)
    }

    fn longest(&self) -> Duration {
        Duration::ZERO
    }
}

/// A user whose retry makes the work on the whole batch panic.
pub(crate) const POISON: Uid = Uid(66);

/// The embedded queue, whose ladder can be cut off.
struct Cut {
    queue: Arc<EmbeddedQueue>,
    off: Arc<AtomicBool>,
}

#[async_trait]
impl JobQueue for Cut {
    async fn publish(&self, batches: &[Batch]) -> Result<(), StoreError> {
        self.queue.publish(batches).await
    }

    async fn delay(&self, batch: &Batch, wait: Duration) -> Result<(), StoreError> {
        assert!(!batch.entries.iter().any(|e| e.uid == POISON), "on purpose");
        if self.off.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("cut off".into()));
        }
        self.queue.delay(batch, wait).await
    }

    async fn consume(&self, channel: &ChannelName, prefetch: usize) -> Result<Box<dyn Consumer>, StoreError> {
        self.queue.consume(channel, prefetch).await
    }

    async fn bury(&self, letter: DeadLetter) -> Result<(), StoreError> {
        self.queue.bury(letter).await
    }

    async fn dead(
        &self,
        after: Option<DeadId>,
        limit: usize,
    ) -> Result<Vec<(DeadId, DeadLetter)>, StoreError> {
        self.queue.dead(after, limit).await
    }

    async fn take_dead(&self, ids: &[DeadId]) -> Result<u64, StoreError> {
        self.queue.take_dead(ids).await
    }

    async fn forget_dead(&self, before: Instant) -> Result<u64, StoreError> {
        self.queue.forget_dead(before).await
    }

    async fn depth(&self, channel: &ChannelName) -> Result<Depth, StoreError> {
        self.queue.depth(channel).await
    }
}

pub(crate) struct Rig {
    pub(crate) parts: Arc<Parts>,
    pub(crate) raw: Arc<EmbeddedQueue>,
    pub(crate) cut: Arc<AtomicBool>,
    pub(crate) ledger: Arc<Flawed>,
    pub(crate) file: Arc<File>,
    _folder: tempfile::TempDir,
}

pub(crate) const DAY: &str = "20260607";

pub(crate) fn day() -> Day {
    DAY.parse().unwrap()
}

pub(crate) fn stub() -> ChannelName {
    "stub".parse().unwrap()
}

pub(crate) fn other() -> ChannelName {
    "other".parse().unwrap()
}

pub(crate) fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

pub(crate) fn settings() -> Settings {
    Settings {
        batches_at_once: 2,
        chunk: 10,
        attempts: 3,
        lease: Span::seconds(60),
        ladder: vec![Span::millis(10), Span::millis(40)],
        backoff: Span::millis(10),
        longest_backoff: Span::millis(20),
        quota_wait: Span::millis(20),
    }
}

pub(crate) fn user(uid: u64) -> NewUser {
    NewUser {
        uid: Uid(uid),
        zone: "Europe/Berlin".parse().unwrap(),
        region: None,
        language: None,
        consent: Some(true),
        consent_at: Some(at("2026-01-01T00:00:00Z")),
        devices: Some(vec![device("stub", uid, 0)]),
        name: Some(format!("N{uid}")),
    }
}

pub(crate) fn device(channel: &str, uid: u64, number: u32) -> NewDevice {
    NewDevice {
        channel: channel.parse().unwrap(),
        address: format!("{channel}-{uid}-{number}"),
        registered_at: Some(at("2026-01-01T00:00:00Z")),
    }
}

impl Rig {
    pub(crate) async fn new(provider: &Provider, settings: Settings, quota: &Quota) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(File::open(&folder.path().join("data")).unwrap());
        let ladder = Ladder::new(settings.ladder.iter().map(|s| s.0).collect()).unwrap();
        let raw = EmbeddedQueue::open(Arc::clone(&file), ladder.clone(), QueueLimits::default()).unwrap();
        let cut = Arc::new(AtomicBool::new(false));
        let clock = Clock::system();
        clock.move_to(at("2026-06-07T20:00:01Z"));
        let campaign = Campaign {
            name: "nightly".parse().unwrap(),
            line: "0 22 * * *".parse().unwrap(),
            window: 1,
            channels: vec![stub(), other()],
            no_steps: NoSteps::Skip,
        };
        let text = (String::from("Tonight"), String::from("{{ steps }} steps, {{ name }}"));
        let fallback = Language::default();
        let texts = Texts::new(&BTreeMap::from([(fallback.clone(), text)]), &fallback).unwrap();
        let line = |name: ChannelName| {
            let limits = Limits::new(quota, settings.chunk);
            (name.clone(), Line::new(name, Arc::new(provider.clone()), limits))
        };
        let ledger = Arc::new(Flawed::over(EmbeddedLedger::open(Arc::clone(&file)).await.unwrap()));
        let parts = Parts {
            directory: Arc::new(EmbeddedDirectory::open(Arc::clone(&file)).unwrap()),
            steps: Arc::new(EmbeddedSteps::open(Arc::clone(&file)).unwrap()),
            queue: Arc::new(Cut { queue: Arc::clone(&raw), off: Arc::clone(&cut) }),
            ledger: Arc::clone(&ledger) as Arc<dyn night_ledger::NightLedger>,
            campaigns: HashMap::from([(campaign.name.clone(), (campaign, texts))]),
            lines: BTreeMap::from([line(stub()), line(other())]),
            ladder,
            settings,
            clock: Arc::new(clock),
            metrics: Metrics::default(),
            owner: Owner(7),
            guard: Guard::default(),
        };
        Self { parts: Arc::new(parts), raw, cut, ledger, file, _folder: folder }
    }

    /// Puts users and their steps in, seals them, and answers the one batch that holds them all.
    pub(crate) async fn sealed(&self, users: Vec<NewUser>, steps: impl Fn(u64) -> u32) -> Batch {
        let uids: Vec<u64> = users.iter().map(|u| u.uid.0).collect();
        let deadline = at("2026-06-07T22:00:00Z");
        let mut zones: Vec<SealZone> = Vec::new();
        let mut of = Vec::new();
        for user in &users {
            let known = zones.iter().position(|z| z.zone == user.zone);
            of.push(u8::try_from(known.unwrap_or(zones.len())).unwrap());
            if known.is_none() {
                zones.push(SealZone { zone: user.zone, deadline });
            }
        }
        self.parts
            .directory
            .apply(users.into_iter().map(Change::Put).collect(), at("2026-06-01T00:00:00Z"))
            .await
            .unwrap();
        let freezes = at("2026-06-08T12:05:00Z");
        let reports = uids.iter().map(|&u| Report::imported(Uid(u), day(), steps(u), freezes)).collect();
        self.parts.steps.report(reports, at("2026-06-07T20:00:00Z")).await.unwrap();
        let due = uids.iter().zip(&of);
        let due = due.map(|(&u, &zone)| Due { uid: Uid(u), slot: 0, channel: 0, zone, closed: None });
        let seal = Seal {
            n: ShardCount::MIN,
            window: 1,
            channels: vec![stub(), other()],
            zones: zones.clone(),
            due: due.collect(),
        };
        let key = self.key();
        self.parts.ledger.shard_count(&key.night, ShardCount::MIN).await.unwrap();
        self.parts.ledger.seal(&key, &seal).await.unwrap();
        let entries = (0u32..).zip(uids.iter().zip(of));
        let entries = entries.map(|(position, (&u, zone))| BatchEntry { uid: Uid(u), position, zone });
        Batch {
            id: BatchId::root(&key, 0),
            campaign: key.night.campaign.clone(),
            day: day(),
            shard: Shard(0),
            instant: key.instant,
            slot: 0,
            channel: stub(),
            attempt: 1,
            not_before: None,
            zones: zones.iter().map(|z| BatchZone { zone: z.zone, deadline: z.deadline }).collect(),
            entries: entries.collect(),
        }
    }

    pub(crate) fn key(&self) -> SealKey {
        let night = domain::Night { campaign: "nightly".parse().unwrap(), day: day() };
        SealKey { night, shard: Shard(0), instant: at("2026-06-07T20:00:00Z") }
    }

    pub(crate) async fn work(&self, batch: &Batch) -> Result<Ended, StoreError> {
        work(
            &self.parts,
            &self.parts.lines[&batch.channel],
            &encoding::encode(batch),
            &CancellationToken::new(),
        )
        .await
    }

    /// Works off whatever comes on both channels until queue and ladder are empty.
    pub(crate) async fn drain(&self) {
        for channel in [stub(), other()] {
            let mut consumer = self.raw.consume(&channel, 1).await.unwrap();
            loop {
                let depth = self.raw.depth(&channel).await.unwrap();
                if depth.ready + depth.unacked.unwrap() + depth.delayed == 0 {
                    break;
                }
                let Delivery { bytes, acker, .. } = consumer.next().await.unwrap();
                work(&self.parts, &self.parts.lines[&channel], &bytes, &CancellationToken::new())
                    .await
                    .unwrap();
                acker.ack().await.unwrap();
            }
        }
    }

    pub(crate) async fn sums(&self) -> night_ledger::Line {
        let night = self.key().night;
        let (sums, recount) =
            (self.parts.ledger.sums(&night).await.unwrap(), self.parts.ledger.recount(&night).await.unwrap());
        assert_eq!(sums.total(), recount.total());
        assert_eq!(sums.total().unknown(), 0);
        sums.total()
    }

    pub(crate) async fn dead(&self) -> Vec<DeadLetter> {
        self.raw.dead(None, 100).await.unwrap().into_iter().map(|(_, letter)| letter).collect()
    }
}
