//! Reports of requests in flight go to the store together: a call of it costs about as much for many as for one.

use std::sync::Arc;

use plumbing::{Clock, http::ApiError};
use step_store::{MOST_REPORTS, Report, Reported, StepStore, StoreError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

/// Calls of the store under way. While they are, what comes in gathers for the next.
const CALLS: usize = 4;
/// Reports of one call, about.
const PIECE: usize = 4_000;
/// Reports that wait or are under way, at most; more are turned away.
const MOST_WAITING: usize = 60_000;

/// What a request waits for.
struct Waiting {
    reports: Vec<Report>,
    reply: oneshot::Sender<Result<Vec<Reported>, StoreError>>,
    _room: OwnedSemaphorePermit,
}

/// Hands reports on to the store.
pub(crate) struct Gatherer {
    queue: mpsc::UnboundedSender<Waiting>,
    room: Arc<Semaphore>,
}

impl Gatherer {
    pub(crate) fn new(steps: Arc<dyn StepStore>, clock: Arc<Clock>) -> Self {
        // bounded by the room
        let (queue, waiting) = mpsc::unbounded_channel();
        tokio::spawn(gather(waiting, steps, clock));
        Self { queue, room: Arc::new(Semaphore::new(MOST_WAITING)) }
    }

    /// Gives the store reports, at most [`MOST_REPORTS`], with those of others. Once it has them they are stored, whether or not
    /// the caller waits.
    pub(crate) async fn report(&self, reports: Vec<Report>) -> Result<Vec<Reported>, ApiError> {
        if reports.is_empty() {
            return Ok(Vec::new());
        }
        let busy = || ApiError::busy(std::time::Duration::from_secs(1));
        let wanted = u32::try_from(reports.len()).map_err(|_| busy())?;
        let room = Arc::clone(&self.room).try_acquire_many_owned(wanted).map_err(|_| busy())?;
        let (reply, answer) = oneshot::channel();
        self.queue.send(Waiting { reports, reply, _room: room }).map_err(|_| busy())?;
        Ok(answer.await.map_err(|_| busy())??)
    }
}

/// Until no request can come any more.
async fn gather(mut waiting: mpsc::UnboundedReceiver<Waiting>, steps: Arc<dyn StepStore>, clock: Arc<Clock>) {
    let calls = Arc::new(Semaphore::new(CALLS));
    let mut next = waiting.recv().await;
    while let Some(first) = next.take() {
        // it never closes
        let Ok(call) = Arc::clone(&calls).acquire_owned().await else { return };
        let (mut all, mut count) = (vec![first], 0);
        count += all[0].reports.len();
        while count < PIECE {
            let Ok(more) = waiting.try_recv() else { break };
            if count + more.reports.len() > MOST_REPORTS {
                next = Some(more);
                break;
            }
            count += more.reports.len();
            all.push(more);
        }
        let (steps, clock) = (Arc::clone(&steps), Arc::clone(&clock));
        tokio::spawn(async move {
            store(&*steps, &clock, all).await;
            drop(call);
        });
        if next.is_none() {
            next = waiting.recv().await;
        }
    }
}

/// One call for all of these, and each gets its answers.
async fn store(steps: &dyn StepStore, clock: &Clock, mut all: Vec<Waiting>) {
    let counts: Vec<_> = all.iter().map(|one| one.reports.len()).collect();
    let reports = all.iter_mut().flat_map(|one| std::mem::take(&mut one.reports)).collect();
    let told = steps.report(reports, clock.now()).await;
    let mut answers = told.map(Vec::into_iter);
    for (one, count) in all.into_iter().zip(counts) {
        let own = match &mut answers {
            Ok(answers) => Ok(answers.by_ref().take(count).collect()),
            Err(error) => Err(error.clone()),
        };
        // who waited may be gone
        let _ = one.reply.send(own);
    }
}
