//! The embedded engine.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use night_ledger::{EmbeddedLedger, NightLedger, Step, Stepped};
use plumbing::{File, FileError};
use tempfile::TempDir;

use crate::{
    engine::{Engine, all_checks},
    random,
    rig::{places, sealed, step},
};

pub(crate) struct Embedded {
    folder: TempDir,
    open: Option<(Arc<File>, Arc<EmbeddedLedger>)>,
}

impl Embedded {
    pub(crate) async fn start() -> Self {
        let mut engine = Self { folder: tempfile::tempdir().unwrap(), open: None };
        engine.kill().await;
        engine
    }
}

#[async_trait]
impl Engine for Embedded {
    fn ledger(&self) -> Arc<dyn NightLedger> {
        Arc::clone(&self.open.as_ref().unwrap().1) as _
    }

    async fn kill(&mut self) {
        self.open = None;
        let file = Arc::new(unlocked(&self.folder.path().join("data")).await);
        let ledger = Arc::new(EmbeddedLedger::open(Arc::clone(&file)).await.unwrap());
        self.open = Some((file, ledger));
    }

    async fn clean(&mut self) {}
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

all_checks!(Embedded::start(), []);

#[test]
fn the_sums_hold_at_every_moment() {
    random::sample_acts(40, async |acts| random::run(&mut [&mut Embedded::start().await], &acts).await);
}

#[tokio::test]
async fn a_step_that_runs_twice_in_the_writer_marks_what_it_takes_over() {
    let mut engine = Embedded::start().await;
    let ledger = sealed(&engine).await;
    ledger.step(Step { claim: places(1), ..step(1, 1, 1) }).await.unwrap();
    drop(ledger);
    engine.kill().await;
    let (file, ledger) = engine.open.as_ref().unwrap();
    for _ in 0..20 {
        // a neighbour in the group that fails makes the group run again
        let failing = file.write(|_| -> Result<(), _> { Err(FileError::entry("test", "on purpose")) });
        let taking = ledger.step(Step { claim: places(1), ..step(1, 1, 2) });
        let (failed, taken) = tokio::join!(failing, taking);
        failed.unwrap_err();
        let Stepped::Done(taken) = taken.unwrap() else { panic!() };
        assert!(taken.iter().flatten().all(|claim| claim.maybe()));
    }
}
