use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use chrono::{DateTime, TimeDelta, Utc};
use rig::{Chance, Gateway, Item, Recount, ReportAnswer, Walked};
use tokio::{
    sync::{Mutex, watch},
    task::JoinHandle,
};

use super::stage::offset;

/// Phones and watches that report without a pause, until they are told to end.
pub(super) struct Load {
    end: watch::Sender<bool>,
    walkers: Vec<JoinHandle<()>>,
    counted: Arc<Mutex<Counted>>,
    answered: Arc<AtomicU64>,
}

/// What was answered, and when.
#[derive(Default)]
pub(super) struct Counted {
    /// The recount.
    pub(super) recount: Recount,
    /// Who was last answered `stored` when.
    pub(super) last: std::collections::HashMap<u64, Instant>,
}

/// Items of a batch.
const BATCH: usize = 50;

impl Load {
    /// One walker a gateway, `walkers` times over, for people 1 to `users`. What they report was walked at `at` at the
    /// earliest, in the minutes after.
    pub(super) fn begin(
        gateways: Vec<Gateway>,
        walkers: usize,
        users: u64,
        at: DateTime<Utc>,
        seed: u64,
    ) -> Self {
        let (end, told) = watch::channel(false);
        let (counted, answered) = (Arc::<Mutex<Counted>>::default(), Arc::new(AtomicU64::new(0)));
        let many = gateways.len() * walkers;
        let all = (0..many).zip(gateways.into_iter().cycle());
        let walkers = all.map(|(number, gateway)| {
            let (counted, answered, told) = (Arc::clone(&counted), Arc::clone(&answered), told.clone());
            let walker = Walker {
                number: u64::try_from(number).unwrap(),
                users,
                at,
                chance: Chance::new(seed + u64::try_from(number).unwrap()),
                made: 0,
            };
            tokio::spawn(walker.walk(gateway, counted, answered, told))
        });
        Self { walkers: walkers.collect(), end, counted, answered }
    }

    /// Batches answered so far.
    pub(super) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Waits until so many more batches were answered.
    pub(super) async fn more(&self, batches: u64) {
        let wanted = self.answered() + batches;
        rig::until("reports to be answered", rig::MOST, async || (self.answered() >= wanted).then_some(()))
            .await;
    }

    /// Lets every walker end the batch it is at, which is answered however long that takes.
    pub(super) async fn end(self) -> Counted {
        self.end.send_replace(true);
        for walker in self.walkers {
            walker.await.unwrap();
        }
        Arc::try_unwrap(self.counted).unwrap_or_else(|_| panic!("a walker is still there")).into_inner()
    }
}

struct Walker {
    number: u64,
    users: u64,
    at: DateTime<Utc>,
    chance: Chance,
    made: u64,
}

impl Walker {
    async fn walk(
        mut self,
        gateway: Gateway,
        counted: Arc<Mutex<Counted>>,
        answered: Arc<AtomicU64>,
        told: watch::Receiver<bool>,
    ) {
        let mut last = Vec::new();
        while !*told.borrow() {
            // now and then a batch comes again, as from a phone that lost the answer
            let items = match self.chance.below(8) {
                0 if !last.is_empty() => std::mem::take(&mut last),
                _ => (0..BATCH).map(|_| self.item()).collect::<Vec<_>>(),
            };
            let answers = gateway.post(&items).await;
            let (now, mut counted) = (Instant::now(), counted.lock().await);
            for (item, answer) in items.iter().zip(&answers) {
                assert!(!matches!(answer, ReportAnswer::Refused(_)), "{item:?} was answered {answer:?}");
                counted.recount.count(item, answer);
                if *answer == ReportAnswer::Stored {
                    counted.last.insert(item.uid, now);
                }
            }
            drop(counted);
            answered.fetch_add(1, Ordering::Relaxed);
            last = items;
        }
    }

    fn item(&mut self) -> Item {
        self.made += 1;
        let uid = 1 + self.chance.below(self.users);
        let at = self.at + TimeDelta::seconds(i64::try_from(self.chance.below(60)).unwrap());
        let at = at.with_timezone(&offset(uid));
        let (source, walked) = match self.chance.below(3) {
            0 => ("watch", Walked::Total(u32::try_from(self.chance.below(40_000)).unwrap())),
            _ => ("phone", Walked::Steps(u32::try_from(self.chance.below(30)).unwrap())),
        };
        Item { uid, at, source, walked, id: self.number << 32 | self.made }
    }
}
