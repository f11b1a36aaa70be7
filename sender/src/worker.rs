mod handling;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::ChannelName;
use job_queue::{Consumer, Delivery, StoreError};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use self::handling::handle;
use crate::{
    Consuming,
    lasting::Lasting,
    membership::{self, reach},
    parts::{Line, Parts, jittered},
};

/// Wait after an error before the next try, doubled with each further one up to sixteen times.
const AFTER_ERROR: Duration = Duration::from_millis(250);
/// How long a queue may take to attach a consumer.
const ATTACHING: Duration = Duration::from_secs(30);
/// Pause between two looks at whether a channel that rests may go on.
const RESTING: Duration = Duration::from_millis(200);

/// Consumes every channel's queue until `stop`, then finishes the chunks that are in flight. Meanwhile it is announced
/// among the senders, and has its share of each channel's quota.
pub async fn run(parts: Arc<Parts>, stop: CancellationToken) {
    membership::wait_for_shares(&parts);
    // the share is held until the last chunk is done
    let done = CancellationToken::new();
    let sharing = tokio::spawn({
        let (parts, done) = (Arc::clone(&parts), done.clone());
        async move { membership::share_out(&parts, &done).await }
    });
    let mut lines = JoinSet::new();
    for name in parts.lines.keys() {
        lines.spawn(run_line(Arc::clone(&parts), name.clone(), stop.clone()));
    }
    while let Some(end) = lines.join_next().await {
        if let Err(panic) = end {
            tracing::error!(%panic, "a channel's loop ended");
        }
    }
    done.cancel();
    if let Err(panic) = sharing.await {
        tracing::error!(%panic, "the loop that shares the quotas ended");
    }
}

/// One channel: at most `batches_at_once` deliveries in work, so that a slow channel holds up no other.
async fn run_line(parts: Arc<Parts>, name: ChannelName, stop: CancellationToken) {
    let Some(line) = parts.lines.get(&name) else { return };
    let mut works = JoinSet::new();
    let lasting = Lasting::default();
    let mut failures = 0u32;
    while !stop.is_cancelled() {
        // without a share for want of the queue, it is the queue that is tried
        if parts.guard.is_shut() || (line.limits.resting() && !reach::lost(&parts, line)) {
            parts.metrics.consuming(&name, Consuming::Resting);
            tokio::select! {
                () = stop.cancelled() => break,
                () = sleep(RESTING) => continue,
            }
        }
        parts.metrics.consuming(&name, Consuming::Away(Instant::now()));
        let lost = match attach(&parts, &name).await {
            Ok(consumer) => {
                failures = 0;
                parts.metrics.consuming(&name, Consuming::Attached);
                consume(&parts, line, consumer, &mut works, &lasting, &stop).await
            }
            Err(error) => Some(error),
        };
        if let Some(error) = lost {
            parts.metrics.consuming(&name, Consuming::Away(Instant::now()));
            failures = failures.saturating_add(1);
            tracing::warn!(channel = %name, %error, failures, "no consumer is attached; trying again");
            let wait =
                jittered(AFTER_ERROR * (1 << (failures - 1).min(4)), parts.owner.0 ^ u64::from(failures));
            tokio::select! {
                () = stop.cancelled() => break,
                () = sleep(wait) => {}
            }
        }
    }
    while works.join_next().await.is_some() {}
}

/// Takes deliveries until the consumer is lost, which answers why, or the channel is to rest, or `stop`.
async fn consume(
    parts: &Arc<Parts>,
    line: &Line,
    mut consumer: Box<dyn Consumer>,
    works: &mut JoinSet<()>,
    lasting: &Lasting,
    stop: &CancellationToken,
) -> Option<StoreError> {
    loop {
        if rests(parts, line) {
            // what is in work ends soon, in the ladder; only then what was sent here ahead may go back to the queue
            while works.join_next().await.is_some() {}
            return None;
        }
        let room = works.len() < parts.settings.batches_at_once;
        // the stop; a work that ended; another look at whether to rest; a delivery
        tokio::select! {
            () = stop.cancelled() => return None,
            Some(_) = works.join_next() => {}
            () = sleep(RESTING) => {}
            next = take(&mut consumer, room) => match next {
                Ok(delivery) => {
                    let (parts, lasting, stop) = (Arc::clone(parts), lasting.clone(), stop.clone());
                    works.spawn(handle(parts, line.name.clone(), delivery, lasting, stop));
                }
                Err(error) => return Some(error),
            }
        }
    }
}

/// Whether the channel is to take nothing.
fn rests(parts: &Parts, line: &Line) -> bool {
    parts.guard.is_shut() || line.limits.resting()
}

async fn attach(parts: &Parts, name: &ChannelName) -> Result<Box<dyn Consumer>, StoreError> {
    let attaching = parts.queue.consume(name, parts.settings.batches_at_once);
    let late = || StoreError::Unavailable("the queue attached no consumer in time".into());
    timeout(ATTACHING, attaching).await.map_err(|_| late())?
}

async fn take(consumer: &mut Box<dyn Consumer>, room: bool) -> Result<Delivery, StoreError> {
    if room { consumer.next().await } else { std::future::pending().await }
}
