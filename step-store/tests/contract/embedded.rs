//! The embedded engine.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use domain::{Day, Uid};
use plumbing::{File, FileError};
use redb::{ReadableTableMetadata, TableDefinition};
use step_store::{EmbeddedSteps, Report, Reported, StepStore, part};
use tempfile::TempDir;

use crate::engine::{Engine, add, all_checks, give, now};

struct Embedded {
    folder: TempDir,
    store: Option<Arc<EmbeddedSteps>>,
    file: Option<Arc<File>>,
}

/// (part, day, page): the pages as the engine has them.
const PAGES: TableDefinition<(u32, u32, u64), &[u8]> = TableDefinition::new("steps.pages");

impl Embedded {
    async fn start() -> Self {
        let mut engine = Self { folder: tempfile::tempdir().unwrap(), store: None, file: None };
        engine.restart().await;
        engine
    }
}

#[async_trait]
impl Engine for Embedded {
    fn store(&self) -> Arc<dyn StepStore> {
        Arc::clone(self.store.as_ref().unwrap()) as _
    }

    fn other(&self) -> Arc<dyn StepStore> {
        self.store()
    }

    async fn damage(&self, uid: Uid, day: Day) {
        let key = (part(uid), day.number(), uid.0 / 32);
        let work = move |to: &redb::WriteTransaction| {
            to.open_table(PAGES)?.insert(key, &[9u8, 9, 9][..])?;
            Ok(())
        };
        self.file.as_ref().unwrap().write(work).await.unwrap();
    }

    async fn restart(&mut self) {
        (self.store, self.file) = (None, None);
        let file = Arc::new(unlocked(&self.folder.path().join("data")).await);
        self.store = Some(Arc::new(EmbeddedSteps::open(Arc::clone(&file)).unwrap()));
        self.file = Some(file);
    }
}

/// The file, once the writer of the one before has let go of it.
async fn unlocked(path: &Path) -> File {
    loop {
        match File::open(path) {
            Ok(file) => return file,
            Err(FileError::Locked(_)) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

all_checks!(Embedded::start());

#[tokio::test]
async fn a_file_that_holds_something_else_under_a_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = Arc::new(File::open(&folder.path().join("data")).unwrap());
    let other: TableDefinition<u64, u64> = TableDefinition::new("steps.ids");
    file.write(move |to| Ok(to.open_table(other)?.insert(1, 1).map(|_| ())?)).await.unwrap();
    assert!(EmbeddedSteps::open(file).is_err());
}

/// Ids whose time is over are forgotten by later writes, a few at a time.
#[tokio::test]
async fn old_ids_are_forgotten() {
    let engine = Embedded::start().await;
    let ids: TableDefinition<(u32, u64, u64), ()> = TableDefinition::new("steps.ids");
    let held = || engine.file.as_ref().unwrap().read().unwrap().open_table(ids).unwrap().len().unwrap();
    let store = engine.store();
    give(&store, (0..100).map(|n| add(n, 1, "a")).collect()).await;
    assert_eq!(held(), 100);
    let later = now() + chrono::TimeDelta::days(20);
    for n in 0..10 {
        let one = Report { day: "20260627".parse().unwrap(), freezes: later, ..add(n, 1, "b") };
        assert_eq!(store.report(vec![one], later).await.unwrap(), [Reported::Stored(1)]);
        assert!(held() < 100);
    }
    assert_eq!(held(), 10);
}
