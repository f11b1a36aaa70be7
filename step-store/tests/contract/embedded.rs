//! The embedded engine.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use plumbing::{File, FileError};
use step_store::{EmbeddedSteps, StepStore};
use tempfile::TempDir;

use crate::engine::{Engine, all_checks};

struct Embedded {
    folder: TempDir,
    store: Option<Arc<EmbeddedSteps>>,
}

impl Embedded {
    async fn start() -> Self {
        let mut engine = Self { folder: tempfile::tempdir().unwrap(), store: None };
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
        self.store = None;
        let file = Arc::new(unlocked(&self.folder.path().join("data")).await);
        self.store = Some(Arc::new(EmbeddedSteps::open(file).unwrap()));
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
