//! A scheduler over real embedded stores, its time stepped, and a receiver that takes every batch off the queue.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use directory::{Change, Directory, EmbeddedDirectory, NewDevice, NewUser};
use domain::{Campaign, Instant, NoSteps, ShardCount, Uid};
use job_queue::{Batch, EmbeddedQueue, JobQueue, Ladder, Limits, encoding};
use night_ledger::{EmbeddedLedger, NightLedger, Owner};
use plumbing::{File, Span};
use scheduler::{Scheduler, Settings, Ticked};

use crate::{counting::Counting, shared::Shared};

pub(crate) struct Rig {
    pub(crate) file: Arc<File>,
    pub(crate) directory: Arc<Counting>,
    pub(crate) queue: Arc<dyn JobQueue>,
    pub(crate) ledger: Arc<dyn NightLedger>,
    pub(crate) scheduler: Scheduler,
    campaigns: Vec<Campaign>,
    limits: Limits,
    folder: tempfile::TempDir,
}

/// A batch as it came out of the queue, and the logical time of the tick before.
pub(crate) struct Got {
    pub(crate) at: Instant,
    pub(crate) batch: Batch,
}

pub(crate) fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

pub(crate) fn campaign(line: &str, window: u32) -> Campaign {
    Campaign {
        name: "nightly".parse().unwrap(),
        line: line.parse().unwrap(),
        window,
        channels: vec!["stub".parse().unwrap(), "webhook".parse().unwrap()],
        no_steps: NoSteps::Skip,
    }
}

pub(crate) fn user(uid: u64, zone: &str) -> NewUser {
    NewUser {
        uid: Uid(uid),
        zone: zone.parse().unwrap(),
        region: Default::default(),
        language: Default::default(),
        consent: Some(true),
        consent_at: Some(at("2001-01-01T00:00:00Z")),
        devices: Some(vec![NewDevice {
            channel: "stub".parse().unwrap(),
            address: format!("token-{uid}"),
            registered_at: None,
        }]),
        name: None,
    }
}

impl Rig {
    pub(crate) async fn new(campaign: Campaign, shards: u32) -> Self {
        Self::with(vec![campaign], shards, Limits::default()).await
    }

    pub(crate) async fn with(campaigns: Vec<Campaign>, shards: u32, limits: Limits) -> Self {
        Self::over(tempfile::tempdir().unwrap(), campaigns, limits, shards, 1).await
    }

    async fn over(
        folder: tempfile::TempDir,
        campaigns: Vec<Campaign>,
        limits: Limits,
        shards: u32,
        owner: u64,
    ) -> Self {
        let file = Arc::new(File::open(&folder.path().join("data")).unwrap());
        let directory = Arc::new(Counting::over(EmbeddedDirectory::open(Arc::clone(&file)).unwrap()));
        let ladder = Ladder::new(vec![Duration::from_secs(1)]).unwrap();
        let queue: Arc<dyn JobQueue> = EmbeddedQueue::open(Arc::clone(&file), ladder, limits).unwrap();
        let ledger: Arc<dyn NightLedger> = Arc::new(EmbeddedLedger::open(Arc::clone(&file)).await.unwrap());
        let settings = Settings {
            shards: NonZeroU32::new(shards).unwrap(),
            prepare_ahead: Span::seconds(600),
            lease: Span::seconds(60),
            publish_at_once: 256,
        };
        let parts = (Arc::clone(&directory), Arc::clone(&queue), Arc::clone(&ledger));
        let scheduler = Scheduler::new(parts.0, parts.1, parts.2, campaigns.clone(), settings, Owner(owner));
        Self { file, directory, queue, ledger, scheduler, campaigns, limits, folder }
    }

    /// A scheduler beside the others over one ledger, with so short a lease.
    pub(crate) fn beside(&self, shared: &Arc<Shared>, shards: u32, owner: u64, lease: Duration) -> Scheduler {
        let settings = Settings {
            shards: NonZeroU32::new(shards).unwrap(),
            prepare_ahead: Span::seconds(600),
            lease: Span(lease),
            publish_at_once: 256,
        };
        let ledger = Arc::clone(shared) as Arc<dyn NightLedger>;
        let (directory, queue) = (Arc::clone(&self.directory), Arc::clone(&self.queue));
        Scheduler::new(directory, queue, ledger, self.campaigns.clone(), settings, Owner(owner))
    }

    /// Ends the process and starts another over the same file.
    pub(crate) async fn restart(self, shards: u32, owner: u64) -> Self {
        let campaigns = self.campaigns.clone();
        self.restart_with(campaigns, shards, owner).await
    }

    /// The same, with other campaigns.
    pub(crate) async fn restart_with(self, campaigns: Vec<Campaign>, shards: u32, owner: u64) -> Self {
        let Self { folder, limits, file, directory, queue, ledger, scheduler, .. } = self;
        drop((file, directory, queue, ledger, scheduler));
        Self::over(folder, campaigns, limits, shards, owner).await
    }

    pub(crate) async fn put(&self, users: impl IntoIterator<Item = NewUser>, now: Instant) {
        let changes = users.into_iter().map(Change::Put).collect();
        self.directory.apply(changes, now).await.unwrap();
    }

    pub(crate) async fn tick(&mut self, now: Instant) -> Ticked {
        self.scheduler.tick(now).await.unwrap()
    }

    /// Ticks every `step` seconds from `from` to `to`, taking what is published; answers the batches in order.
    pub(crate) async fn sweep(&mut self, from: &str, to: &str, step: i64) -> Vec<Got> {
        let (mut now, to) = (at(from), at(to));
        let mut got = Vec::new();
        while now <= to {
            let ticked = self.tick(now).await;
            got.extend(self.take(ticked.published).await.into_iter().map(|batch| Got { at: now, batch }));
            now += chrono::TimeDelta::seconds(step);
        }
        got
    }

    /// Takes `count` batches off the queue for good.
    pub(crate) async fn take(&self, count: u64) -> Vec<Batch> {
        let mut batches = Vec::new();
        if count > 0 {
            let mut consumer = self.queue.consume(&"stub".parse().unwrap(), 100).await.unwrap();
            for _ in 0..count {
                let delivery = consumer.next().await.unwrap();
                batches.push(encoding::decode(&delivery.bytes).unwrap());
                delivery.acker.ack().await.unwrap();
            }
        }
        batches
    }

    pub(crate) async fn sums(&self, day: &str) -> night_ledger::Line {
        self.sums_of(&self.night(day)).await
    }

    pub(crate) async fn sums_of(&self, night: &domain::Night) -> night_ledger::Line {
        let sums = self.ledger.sums(night).await.unwrap();
        let recount = self.ledger.recount(night).await.unwrap();
        assert_eq!(sums.total(), recount.total());
        assert_eq!(sums.total().unknown(), 0);
        sums.total()
    }

    pub(crate) fn night(&self, day: &str) -> domain::Night {
        domain::Night { campaign: self.campaigns[0].name.clone(), day: day.parse().unwrap() }
    }

    pub(crate) fn shards(n: u32) -> ShardCount {
        NonZeroU32::new(n).unwrap()
    }
}

/// The uids of batches, in order.
pub(crate) fn uids(got: &[Got]) -> Vec<u64> {
    got.iter().flat_map(|g| &g.batch.entries).map(|e| e.uid.0).collect()
}
