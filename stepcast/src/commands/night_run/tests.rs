use std::future::{pending, ready};

use async_trait::async_trait;
use domain::{ChannelName, Shard, Uid};
use futures_util::FutureExt;
use job_queue::{Batch, Consumer, DeadId, DeadLetter, Depth, JobQueue};

use super::*;
use crate::{
    program::{Check, Found, Lookout},
    testing::Town,
};

#[tokio::test]
async fn a_stop_ends_what_is_in_flight_and_leaves_the_rest_to_the_next_run() {
    let town = Town::new(50, 50).await;
    let program = &town.program;
    // stopped at once: nothing was begun
    assert!(!work(program, program.whole_scheduler(), ready(Ok(()))).await.unwrap());
    assert_eq!(town.sums().await.due, 0);
    // stopped when everybody is sealed
    let sealed = async {
        while program.parts.ledger.sums(&town.night()).await.unwrap().total().due < 50 {
            tokio::task::yield_now().await;
        }
        Ok(())
    };
    work(program, program.whole_scheduler(), sealed).await.unwrap();
    let between = town.sums().await;
    assert_eq!(between.delivered + between.open, 50);
    // not stopped
    assert!(work(program, program.whole_scheduler(), pending()).await.unwrap());
    let after = town.sums().await;
    assert_eq!((after.delivered, after.open, after.duplicates), (50, 0, 0));
}

#[tokio::test]
async fn the_stores_are_looked_after_while_it_runs() {
    let mut town = Town::new(5, 5).await;
    // shut until a look finds that all is well, as where the stores were away at the start
    let check: Check = Box::new(|| ready(Found::Sound(Vec::new())).boxed());
    town.program.lookout = Some(Arc::new(Lookout::new(check, town.program.parts.guard.clone())));
    assert!(town.program.parts.guard.is_shut());
    assert!(work(&town.program, town.program.whole_scheduler(), pending()).await.unwrap());
    assert_eq!(town.sums().await.delivered, 5);
}

#[tokio::test]
async fn what_somebody_else_works_on_is_not_done() {
    let mut town = Town::new(1, 1).await;
    let queue = Arc::clone(&town.program.parts.queue);
    Arc::get_mut(&mut town.program.parts).unwrap().queue = Arc::new(Quiet(Arc::clone(&queue)));
    town.published().await;
    // somebody takes the batch, and dies while the run goes on
    let mut other = queue.consume(&"stub".parse().unwrap(), 1).await.unwrap();
    let taken = other.next().await.unwrap();
    let program = &town.program;
    let mut running = pin!(work(program, program.whole_scheduler(), pending()));
    let look = Duration::from_millis(500);
    assert!(tokio::time::timeout(look, &mut running).await.is_err(), "nobody was pushed");
    drop((taken, other));
    assert!(running.await.unwrap());
    assert_eq!(town.sums().await.delivered, 1);
}

#[tokio::test]
async fn who_is_open_past_the_deadline_is_told() {
    let town = Town::new(1, 1).await;
    town.published().await;
    let mut other = town.program.parts.queue.consume(&"stub".parse().unwrap(), 1).await.unwrap();
    let _taken = other.next().await.unwrap();
    let program = &town.program;
    let shard = Shard::of(Uid(1), program.config.scheduler.shards);
    let seals = program.parts.ledger.seals(&town.night(), shard).await.unwrap();
    let deadline = seals.iter().map(|(_, seal)| seal.deadline).max().unwrap();
    program.clock.move_to(Instant::from_timestamp(deadline, 0).unwrap());
    let ledger = &*program.parts.ledger;
    let left = Left::of(ledger, program.config.scheduler.shards, [town.night().campaign]);
    let worked = work_on(program, program.whole_scheduler(), left, pending()).await.unwrap();
    assert_eq!((worked.whole, worked.open), (true, 1));
}

/// A queue that does not tell what is being worked.
struct Quiet(Arc<dyn JobQueue>);

#[async_trait]
impl JobQueue for Quiet {
    async fn publish(&self, batches: &[Batch]) -> Result<(), StoreError> {
        self.0.publish(batches).await
    }

    async fn delay(&self, batch: &Batch, wait: Duration) -> Result<(), StoreError> {
        self.0.delay(batch, wait).await
    }

    async fn consume(&self, channel: &ChannelName, prefetch: usize) -> Result<Box<dyn Consumer>, StoreError> {
        self.0.consume(channel, prefetch).await
    }

    async fn bury(&self, letter: DeadLetter) -> Result<(), StoreError> {
        self.0.bury(letter).await
    }

    async fn dead(
        &self,
        after: Option<DeadId>,
        limit: usize,
    ) -> Result<Vec<(DeadId, DeadLetter)>, StoreError> {
        self.0.dead(after, limit).await
    }

    async fn take_dead(&self, ids: &[DeadId]) -> Result<u64, StoreError> {
        self.0.take_dead(ids).await
    }

    async fn forget_dead(&self, before: Instant) -> Result<u64, StoreError> {
        self.0.forget_dead(before).await
    }

    async fn depth(&self, channel: &ChannelName) -> Result<Depth, StoreError> {
        Ok(Depth { unacked: None, ..self.0.depth(channel).await? })
    }

    fn refusal(&self) -> Option<StoreError> {
        self.0.refusal()
    }
}
