use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use domain::ChannelName;
use futures_util::FutureExt;
use job_queue::{Consumer, DeadReason, Delivery, StoreError};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    children::bury,
    lasting::Lasting,
    parts::{Line, Parts},
    work::{Ended, work},
};

/// Wait after an error before the message is given back, doubled with each further one up to sixteen times.
const AFTER_ERROR: Duration = Duration::from_millis(250);

/// Consumes every channel's queue until `stop`, then finishes the chunks that are in flight.
pub async fn run(parts: Arc<Parts>, stop: CancellationToken) {
    let mut lines = JoinSet::new();
    for name in parts.lines.keys() {
        lines.spawn(run_line(Arc::clone(&parts), name.clone(), stop.clone()));
    }
    while let Some(end) = lines.join_next().await {
        if let Err(panic) = end {
            tracing::error!(%panic, "a channel's loop ended");
        }
    }
}

/// One channel: at most `batches_at_once` deliveries in work, so that a slow channel holds up no other.
async fn run_line(parts: Arc<Parts>, name: ChannelName, stop: CancellationToken) {
    let mut works = JoinSet::new();
    let lasting = Lasting::default();
    'attach: while !stop.is_cancelled() {
        let mut consumer = match parts.queue.consume(&name, parts.settings.batches_at_once).await {
            Ok(consumer) => consumer,
            Err(error) => {
                tracing::warn!(channel = %name, %error, "no consumer could be attached; trying again");
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = tokio::time::sleep(AFTER_ERROR) => continue,
                }
            }
        };
        loop {
            let room = works.len() < parts.settings.batches_at_once;
            // a delivery; a work that ended; the stop
            tokio::select! {
                () = stop.cancelled() => break 'attach,
                Some(_) = works.join_next() => {}
                next = take(&mut consumer, room) => match next {
                    Ok(delivery) => {
                        works.spawn(handle(Arc::clone(&parts), name.clone(), delivery, lasting.clone(), stop.clone()));
                    }
                    Err(error) => {
                        tracing::warn!(channel = %name, %error, "the consumer was lost; attaching again");
                        tokio::time::sleep(AFTER_ERROR).await;
                        continue 'attach;
                    }
                }
            }
        }
    }
    while works.join_next().await.is_some() {}
}

async fn take(consumer: &mut Box<dyn Consumer>, room: bool) -> Result<Delivery, StoreError> {
    if room { consumer.next().await } else { std::future::pending().await }
}

async fn handle(
    parts: Arc<Parts>,
    name: ChannelName,
    delivery: Delivery,
    lasting: Lasting,
    stop: CancellationToken,
) {
    let Some(line) = parts.lines.get(&name) else { return };
    let Delivery { bytes, redelivered, acker } = delivery;
    let mut wait = AFTER_ERROR;
    let mut again = redelivered;
    loop {
        match AssertUnwindSafe(work_once(&parts, line, &bytes, again, &lasting, &stop)).catch_unwind().await {
            Ok(Ok(ended)) => {
                parts.metrics.batch(&name, ended.name());
                if ended == Ended::Stopped {
                    return;
                }
                if let Err(error) = acker.ack().await {
                    tracing::warn!(channel = %name, %error, "an acknowledgement failed; the batch comes again");
                }
                return;
            }
            Ok(Err(error)) => {
                parts.metrics.batch(&name, "failed");
                tracing::warn!(channel = %name, %error, "the work on a batch failed; trying again");
                if matches!(error, StoreError::Corrupt { .. }) {
                    lasting.note(&bytes, DeadReason::Unworkable);
                }
            }
            Err(_) => {
                parts.metrics.batch(&name, "panicked");
                lasting.note(&bytes, DeadReason::Panicked);
            }
        }
        again = true;
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(wait) => wait = (wait * 2).min(AFTER_ERROR * 16),
        }
    }
}

/// A panic is a failed attempt; a message that does it over and over, or that nothing can be made of, is buried.
async fn work_once(
    parts: &Parts,
    line: &Line,
    bytes: &[u8],
    redelivered: bool,
    lasting: &Lasting,
    stop: &CancellationToken,
) -> Result<Ended, StoreError> {
    if let Some(reason) = lasting.verdict(bytes) {
        bury(parts, &line.name, reason, "it failed over and over; the log tells how".into(), bytes.to_vec())
            .await?;
        lasting.forget(bytes);
        return Ok(Ended::Buried);
    }
    work(parts, line, bytes, redelivered, stop).await
}
