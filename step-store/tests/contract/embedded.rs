//! The embedded engine.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use domain::{Day, Uid};
use plumbing::{File, FileError};
use redb::TableDefinition;
use step_store::{EmbeddedSteps, StepStore};
use tempfile::TempDir;

use crate::engine::{Engine, all_checks};

struct Embedded {
    folder: TempDir,
    store: Option<Arc<EmbeddedSteps>>,
    file: Option<Arc<File>>,
}

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

    async fn restart(&mut self) {
        (self.store, self.file) = (None, None);
        let file = Arc::new(unlocked(&self.folder.path().join("data")).await);
        self.store = Some(Arc::new(EmbeddedSteps::open(Arc::clone(&file)).unwrap()));
        self.file = Some(file);
    }

    async fn plant_page(&self, uid: Uid, day: Day, bytes: &[u8]) {
        const PAGES: TableDefinition<(u32, u32, u64), &[u8]> = TableDefinition::new("steps.pages");
        let (key, bytes) = ((step_store::part(uid), day.number(), uid.0 / 32), bytes.to_vec());
        let plant = move |to: &redb::WriteTransaction| {
            to.open_table(PAGES)?.insert(key, bytes.as_slice())?;
            Ok(())
        };
        self.file.as_ref().unwrap().write(plant).await.unwrap();
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
    let other: TableDefinition<u64, u64> = TableDefinition::new("steps.pages");
    file.write(move |to| Ok(to.open_table(other)?.insert(1, 1).map(|_| ())?)).await.unwrap();
    assert!(EmbeddedSteps::open(file).is_err());
}
