//! One delivery, until it is acknowledged.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use chrono::{TimeDelta, Utc};
use domain::ChannelName;
use futures_util::FutureExt;
use job_queue::{Acker, Batch, DeadReason, Delivery, StoreError, encoding};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::AFTER_ERROR;
use crate::{
    children::bury,
    lasting::Lasting,
    parts::{Line, Parts},
    work::{Ended, LONGEST_HELD, work},
};

/// How long an acknowledgement may take.
const ACKNOWLEDGING: Duration = Duration::from_secs(30);
/// How long a delivery that could not be worked waits in the ladder.
const PUT_BACK: Duration = Duration::from_secs(5);

/// Works on a delivery until something came of it. One that fails is tried again; when that takes long it goes into the
/// ladder, since the broker takes a delivery that is held for too long for lost. Where the queue is away as well it is kept:
/// given back it would count as another failed delivery, of which there are only so many.
pub(super) async fn handle(
    parts: Arc<Parts>,
    name: ChannelName,
    delivery: Delivery,
    lasting: Lasting,
    stop: CancellationToken,
) {
    let Some(line) = parts.lines.get(&name) else { return };
    let Delivery { bytes, acker, .. } = delivery;
    let began = Instant::now();
    let mut wait = AFTER_ERROR;
    loop {
        match AssertUnwindSafe(work_once(&parts, line, &bytes, &lasting, &stop)).catch_unwind().await {
            Ok(Ok(ended)) => {
                // one that waits has not been worked: a panic leaves a lease behind, and the next try meets it
                if matches!(ended, Ended::Done | Ended::Buried) {
                    lasting.forget(&bytes);
                }
                parts.metrics.batch(&name, ended.name());
                if ended != Ended::Stopped {
                    acknowledge(&name, acker).await;
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
        if began.elapsed() >= LONGEST_HELD
            && lasting.verdict(&bytes).is_none()
            && put_back(&parts, &bytes).await
        {
            parts.metrics.batch(&name, "put_back");
            acknowledge(&name, acker).await;
            return;
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = sleep(wait) => wait = (wait * 2).min(AFTER_ERROR * 16),
        }
    }
}

async fn acknowledge(name: &ChannelName, acker: Box<dyn Acker>) {
    let late = || StoreError::Unavailable("the queue did not answer in time".into());
    let end = timeout(ACKNOWLEDGING, acker.ack()).await.unwrap_or_else(|_| Err(late()));
    if let Err(error) = end {
        tracing::warn!(channel = %name, %error, "an acknowledgement failed; the batch comes again");
    }
}

/// Puts a batch into the ladder; whether it is there. How often it failed stays known: it was not worked.
async fn put_back(parts: &Parts, bytes: &[u8]) -> bool {
    let Ok(batch) = encoding::decode(bytes) else { return false };
    let wait = TimeDelta::from_std(PUT_BACK).unwrap_or_default();
    let not_before = batch.not_before.max(Utc::now().checked_add_signed(wait));
    let batch = Batch { not_before, ..batch };
    matches!(timeout(ACKNOWLEDGING, parts.queue.delay(&batch, PUT_BACK)).await, Ok(Ok(())))
}

/// A panic is a failed attempt; a message that does it over and over, or that nothing can be made of, is buried.
async fn work_once(
    parts: &Parts,
    line: &Line,
    bytes: &[u8],
    lasting: &Lasting,
    stop: &CancellationToken,
) -> Result<Ended, StoreError> {
    if let Some(reason) = lasting.verdict(bytes) {
        bury(parts, &line.name, reason, "it failed over and over; the log tells how".into(), bytes.to_vec())
            .await?;
        return Ok(Ended::Buried);
    }
    work(parts, line, bytes, stop).await
}
