//! A copy over the embedded stores: it has in the end what the store has, and says so while it has not.

use std::{sync::Arc, time::Duration};

use domain::{Day, Instant, Uid};
use ingest::Publisher;
use job_queue::{EmbeddedFeed, Feed};
use plumbing::File;
use ranker::{Column, Status, follow};
use step_store::{Amount, EmbeddedSteps, Report, StepStore};
use tempfile::TempDir;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

struct Rig {
    steps: Arc<dyn StepStore>,
    feed: Arc<EmbeddedFeed>,
    publisher: Publisher,
    column: Arc<Column>,
    _stop: DropGuard,
    _folder: TempDir,
}

fn day() -> Day {
    "20260607".parse().unwrap()
}

fn noon() -> Instant {
    "2026-06-07T12:00:00Z".parse().unwrap()
}

impl Rig {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(File::open(&folder.path().join("data")).unwrap());
        let steps: Arc<dyn StepStore> = Arc::new(EmbeddedSteps::open(file).unwrap());
        let feed = Arc::new(EmbeddedFeed::new());
        let publisher = Publisher::new(Arc::clone(&steps), Arc::clone(&feed) as Arc<dyn Feed>, 1);
        Self {
            steps,
            feed,
            publisher,
            column: Arc::default(),
            _stop: CancellationToken::new().drop_guard(),
            _folder: folder,
        }
    }

    /// Begins to follow.
    fn followed(mut self) -> Self {
        let stop = CancellationToken::new();
        let (column, feed) = (Arc::clone(&self.column), Arc::clone(&self.feed) as Arc<dyn Feed>);
        tokio::spawn(follow(column, Arc::clone(&self.steps), feed, stop.clone()));
        self._stop = stop.drop_guard();
        self
    }

    async fn walk(&self, uids: impl Iterator<Item = u64>, total: u32) {
        let report = |uid| Report {
            uid: Uid(uid),
            day: day(),
            source: "phone".parse().unwrap(),
            amount: Amount::Total(total),
            id: None,
            freezes: noon() + chrono::TimeDelta::days(1),
        };
        self.steps.report(uids.map(report).collect(), noon()).await.unwrap();
    }

    async fn until(&self, what: &str, holds: impl Fn(&Column) -> bool) {
        let waited = timeout(Duration::from_secs(30), async {
            while !holds(&self.column) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        waited.await.unwrap_or_else(|_| panic!("waited in vain: {what}, {:?}", self.column.status()));
    }
}

fn all(column: &Column, uids: std::ops::Range<u64>, steps: u32) -> bool {
    uids.into_iter().all(|uid| column.steps(day(), Uid(uid)) == Some(steps))
}

#[tokio::test]
async fn a_copy_has_what_was_before_it_and_what_comes_after() {
    let rig = Rig::new().await;
    rig.walk(0..3_000, 5).await;
    assert_ne!(rig.column.status(), Status::Current, "it knows nothing yet");
    let rig = rig.followed();
    rig.until("what was before", |column| column.status() == Status::Current && all(column, 0..3_000, 5))
        .await;
    rig.walk(0..3_000, 9).await;
    assert!(rig.publisher.step().await.unwrap());
    assert!(!rig.publisher.step().await.unwrap(), "all is posted");
    rig.until("what came after", |column| all(column, 0..3_000, 9)).await;
    assert_eq!(rig.column.steps(day(), Uid(3_000)), None);
    rig.steps.erase(Uid(7)).await.unwrap();
    rig.publisher.step().await.unwrap();
    rig.until("the erasure", |column| column.steps(day(), Uid(7)).is_none()).await;
    assert!(rig.column.memory() > 0 && rig.column.memory() < 1 << 20);
}

/// Nobody publishes: the copy hears nothing, and says so by the store's own positions.
#[tokio::test]
async fn a_copy_says_when_it_is_behind_and_catches_up() {
    let rig = Rig::new().await.followed();
    rig.until("the beginning", |column| column.status() == Status::Current).await;
    rig.walk(0..100, 5).await;
    rig.until(
        "it to say that it is behind",
        |column| matches!(column.status(), Status::Behind { parts } if parts > 0),
    )
    .await;
    rig.publisher.step().await.unwrap();
    rig.until("it to catch up", |column| column.status() == Status::Current && all(column, 0..100, 5)).await;
    assert!(rig.column.lag().is_some_and(|lag| lag >= Duration::from_secs(2)));
}

/// A gap: postings of which nobody hears, and more than a listener may be behind by.
#[tokio::test]
async fn a_gap_is_read_from_the_store() {
    let rig = Rig::new().await.followed();
    rig.until("the beginning", |column| column.status() == Status::Current).await;
    rig.walk(0..64, 5).await;
    // said to be posted, and never published
    for part in 0..2 {
        let last = rig.steps.position(part).await.unwrap().last;
        rig.steps.posted(part, last).await.unwrap();
    }
    rig.walk(0..64, 6).await;
    rig.publisher.step().await.unwrap();
    rig.until("the gap to be filled", |column| column.status() == Status::Current && all(column, 0..64, 6))
        .await;
    for total in 0..40 {
        rig.walk(0..2_048, 10 + total).await;
        rig.publisher.step().await.unwrap();
    }
    rig.until("a flood to be read", |column| column.status() == Status::Current && all(column, 0..2_048, 49))
        .await;
}
