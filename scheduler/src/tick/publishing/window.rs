use domain::Instant;
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesOrdered};
use job_queue::JobQueue;
use night_ledger::StoreError;
use tokio::sync::SemaphorePermit;

use crate::plan::Plan;

/// Groups of one seal's batches that are on their way to the queue. They are begun in order and come out in order, so that
/// what came out well is a prefix: where one fails, those behind it that the queue has confirmed do not count. They are
/// published again, which their ids make harmless. The queue keeps the order within a group; of two that are on their way
/// together, batches may be mixed in it. All of them are due.
pub(super) struct Window<'q> {
    queue: &'q dyn JobQueue,
    groups: FuturesOrdered<BoxFuture<'q, Result<Group, StoreError>>>,
    /// Groups on their way.
    under_way: u32,
    /// The first batch that was not begun.
    next: u32,
}

/// A group that the queue has confirmed.
pub(super) struct Group {
    /// The batch behind it.
    pub(super) upto: u32,
    pub(super) batches: u64,
}

impl<'q> Window<'q> {
    /// Of a seal whose next batch is `next`.
    pub(super) fn new(queue: &'q dyn JobQueue, next: u32) -> Self {
        Self { queue, groups: FuturesOrdered::new(), under_way: 0, next }
    }

    /// The first batch that was not begun.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Groups on their way.
    pub(super) fn under_way(&self) -> u32 {
        self.under_way
    }

    /// Hands the next batches that are due at `now` to the queue, as many as there are places for, which they keep until
    /// they are confirmed.
    pub(super) fn begin(&mut self, plan: &Plan, now: Instant, places: SemaphorePermit<'q>) {
        let (batches, upto) = plan.due(self.next, now, places.num_permits());
        let queue = self.queue;
        self.groups.push_back(Box::pin(async move {
            let end = queue.publish(&batches).await;
            drop(places);
            end.map(|()| Group { upto, batches: batches.len() as u64 })
        }));
        self.under_way += 1;
        self.next = upto;
    }

    /// The end of the foremost group; `None` when none is on its way.
    pub(super) async fn front(&mut self) -> Option<Result<Group, StoreError>> {
        let end = self.groups.next().await;
        self.under_way = self.under_way.saturating_sub(u32::from(end.is_some()));
        end
    }
}
