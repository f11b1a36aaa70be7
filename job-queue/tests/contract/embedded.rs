//! The embedded engine.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use domain::ChannelName;
use job_queue::{EmbeddedQueue, JobQueue, Ladder, Limits};
use plumbing::{File, FileError};
use tempfile::TempDir;

use crate::{
    delivery,
    engine::{Engine, STEPS, soon},
    keeping, ladder, load,
};

struct Embedded {
    folder: TempDir,
    queue: Option<Arc<EmbeddedQueue>>,
}

impl Embedded {
    async fn start() -> Self {
        let mut engine = Self { folder: tempfile::tempdir().unwrap(), queue: None };
        engine.restart().await;
        engine
    }
}

#[async_trait]
impl Engine for Embedded {
    fn queue(&self) -> Arc<dyn JobQueue> {
        Arc::clone(self.queue.as_ref().unwrap()) as _
    }

    async fn publish_raw(&self, channel: &ChannelName, bytes: &[u8]) {
        self.queue.as_ref().unwrap().publish_raw(channel, bytes.to_vec()).await.unwrap();
    }

    async fn restart(&mut self) {
        self.queue = None;
        let file = Arc::new(soon(unlocked(&self.folder.path().join("data"))).await);
        let ladder = Ladder::new(STEPS.to_vec()).unwrap();
        self.queue = Some(EmbeddedQueue::open(file, ladder, Limits::default()).unwrap());
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

macro_rules! checks {
    ($($module:ident :: $name:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $module::$name(&mut Embedded::start().await).await;
            }
        )*
    };
}

checks! {
    delivery::comes_in_order_and_goes_with_its_acknowledgement,
    delivery::comes_from_a_queue_that_was_made_ready,
    delivery::comes_again_first_when_dropped,
    delivery::comes_again_when_its_task_ends_badly,
    delivery::comes_again_when_its_consumer_goes,
    delivery::holds_no_more_than_its_prefetch,
    delivery::wakes_who_waits,
    delivery::bytes_that_are_no_batch_come_as_they_are,
    ladder::a_long_wait_holds_up_no_short_one,
    ladder::nothing_comes_before_its_step,
    ladder::what_is_due_wakes_who_waits,
    ladder::what_is_due_waits_for_who_comes_later,
    keeping::all_but_the_acknowledged_survives_a_restart,
    keeping::dead_letters_are_listed_oldest_first,
    keeping::dead_letters_are_taken_off_once,
    keeping::old_dead_letters_are_forgotten,
    load::ten_thousand_go_through_once_each,
    load::giving_up_on_the_next_one_loses_nothing,
}
