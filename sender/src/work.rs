//! The work on one delivery: chunk by chunk, each claimed under the lease in the step that books the one before.

mod apart;
mod booking;
mod chunks;
mod rest;

use std::time::Duration;

use job_queue::{DeadReason, encoding};
use night_ledger::StoreError;
use tokio_util::sync::CancellationToken;

use self::chunks::{End, Work};
use crate::{
    children::{bury, publish_recorded, until},
    parts::{Line, Parts},
};

/// What came of the work on a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every user is delivered, closed or in a child that the queue confirmed.
    Done,
    /// Not worked, or not wholly: in the ladder, without those who were set apart.
    Delayed,
    /// Not a batch that can be worked: among the dead letters.
    Buried,
    /// The sender stopped between two chunks. This alone may not be acknowledged: the rest is worked when it comes again.
    Stopped,
}

impl Ended {
    /// Its name in figures.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Delayed => "delayed",
            Self::Buried => "buried",
            Self::Stopped => "stopped",
        }
    }
}

/// How long a delivery is worked on. The broker takes one that is held for too long for lost (30 minutes by default, a minute
/// where somebody set it so); to put the rest of a batch aside costs one message, so that this is far below.
pub(crate) const LONGEST_HELD: Duration = Duration::from_secs(30);

/// The longest a message waits for its `not_before`, as the longest `Retry-After`: a clock that was set back must not
/// make it longer.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3_600);
/// How long a batch waits in the ladder that meets the guard shut.
const GUARDED: Duration = Duration::from_secs(5);

/// Works on a message from the queue of `line`, at most until the end of the chunk in which `stop` is cancelled. After an
/// error nothing may be acknowledged: it is delivered again.
pub async fn work(
    parts: &Parts,
    line: &Line,
    bytes: &[u8],
    stop: &CancellationToken,
) -> Result<Ended, StoreError> {
    let batch = match encoding::decode(bytes) {
        Ok(batch) => batch,
        Err(fault) => {
            bury(parts, &line.name, DeadReason::Malformed, fault.to_string(), bytes.to_vec()).await?;
            return Ok(Ended::Buried);
        }
    };
    let reason = if !parts.campaigns.contains_key(&batch.campaign) {
        Some((DeadReason::UnknownCampaign, batch.campaign.to_string()))
    } else if batch.channel != line.name {
        Some((DeadReason::UnknownChannel, batch.channel.to_string()))
    } else {
        None
    };
    if let Some((reason, detail)) = reason {
        bury(parts, &line.name, reason, detail, bytes.to_vec()).await?;
        return Ok(Ended::Buried);
    }
    // an earlier work may have been interrupted between its record and the queue, and the batch may have come a long way
    // since: from the ladder, or from among the dead letters
    let elsewhere = publish_recorded(parts, &batch).await?;
    let now = parts.clock.now();
    let over = batch.last_deadline().is_some_and(|deadline| deadline <= now);
    let early = batch.not_before.map(until).unwrap_or_default().min(LONGEST_WAIT);
    let wait = early.max(rest_of(parts, line).unwrap_or_default());
    let mut work = Work::new(parts, line, &batch, elsewhere, over, stop);
    // past every deadline nothing will be pushed, so no pause matters
    let end = if wait.is_zero() || over { work.all().await } else { Ok(End::Wait(wait)) };
    let end = work.or_wait(end)?;
    // before anything is acknowledged, what was recorded to be tried again must be in the queue
    work.publish_left().await?;
    if matches!(end, End::Worked) {
        // also by a work that was cut off from the queue and went on while this one began
        publish_recorded(parts, &batch).await?;
    }
    let rest = work.rest();
    match end {
        End::Worked => Ok(Ended::Done),
        End::Stopped | End::Wait(_) if rest.entries.is_empty() => Ok(Ended::Done),
        // whole it would be taken apart once more
        End::Stopped if work.is_apart() => {
            parts.queue.publish(&[rest]).await?;
            Ok(Ended::Delayed)
        }
        End::Stopped => Ok(Ended::Stopped),
        End::NoSeal => {
            bury(parts, &line.name, DeadReason::UnknownSeal, batch.seal().to_string(), bytes.to_vec())
                .await?;
            Ok(Ended::Buried)
        }
        End::Wait(wait) => {
            // past the deadline it is worked at once, to be expired
            let left =
                batch.last_deadline().and_then(|deadline| (deadline - now).to_std().ok()).unwrap_or_default();
            parts.queue.delay(&rest, wait.min(left)).await?;
            Ok(Ended::Delayed)
        }
    }
}

/// How long nothing may be pushed on this channel; `None` when it may be.
fn rest_of(parts: &Parts, line: &Line) -> Option<Duration> {
    line.limits.paused().max(parts.guard.is_shut().then_some(GUARDED))
}
