//! The work on one delivery: chunk by chunk, each claimed under the lease in the step that books the one before.

use std::{collections::BTreeMap, time::Duration};

use chrono::Utc;
use domain::Instant;
use job_queue::{Batch, DeadReason, encoding};
use night_ledger::{Done, Outcome, Owner, Reason, Step, Stepped, StoreError};
use tokio_util::sync::CancellationToken;

use crate::{
    children::{Left, bury, pack, publish, unpack, until},
    chunk::{Claimed, Worked, push_chunk, zone_of},
    parts::{Line, Parts},
};

/// What came of the work on a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every user is delivered, closed or in a child that the queue confirmed.
    Done,
    /// Not worked, or not wholly: unchanged in the ladder.
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

/// Works on a message from the queue of `line`, at most until the end of the chunk in which `stop` is cancelled. After an
/// error nothing may be acknowledged: it is delivered again.
pub async fn work(
    parts: &Parts,
    line: &Line,
    bytes: &[u8],
    redelivered: bool,
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
    if redelivered && let Some(left) = parts.ledger.pending(&batch.seal(), batch.id).await? {
        // an earlier work was interrupted between its record and the queue
        publish(parts, &batch, &unpack(&left)?).await?;
        parts.ledger.published(&batch.seal(), batch.id).await?;
    }
    let now = parts.clock.now();
    let over = batch.last_deadline().is_some_and(|deadline| deadline <= now);
    let early = batch.not_before.map(until).unwrap_or_default().min(LONGEST_WAIT);
    let wait = early.max(line.limits.paused().unwrap_or_default());
    let mut work =
        Work { parts, line, batch: &batch, owner: Owner(owner(&batch)), over, left: Left::default() };
    let end = if wait.is_zero() || over { work.chunks(stop).await? } else { End::Wait(wait) };
    // before anything is acknowledged, what was recorded to be tried again must be in the queue
    if !work.left.is_empty() {
        publish(parts, &batch, &work.left.messages(&batch)).await?;
        parts.ledger.published(&batch.seal(), batch.id).await?;
    }
    match end {
        End::Worked => Ok(Ended::Done),
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
            parts.queue.delay(&batch, wait.min(left)).await?;
            Ok(Ended::Delayed)
        }
    }
}

/// The longest a message waits for its `not_before`, as the longest `Retry-After`: a clock that was set back must not
/// make it longer.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3_600);

struct Work<'a> {
    parts: &'a Parts,
    line: &'a Line,
    batch: &'a Batch,
    owner: Owner,
    /// Past every deadline: nothing will be pushed, so no pause of the channel matters.
    over: bool,
    left: Left,
}

/// How the chunks of a batch ended.
enum End {
    /// All were worked.
    Worked,
    /// The sender stops.
    Stopped,
    /// The rest cannot be worked now: another holds the lease, or there is no quota.
    Wait(Duration),
    /// The ledger does not know the seal.
    NoSeal,
}

impl Work<'_> {
    async fn chunks(&mut self, stop: &CancellationToken) -> Result<End, StoreError> {
        let batch = self.batch;
        let mut end = End::Worked;
        let mut booked = Vec::new();
        let mut now = self.parts.clock.now();
        for chunk in batch.entries.chunks(self.parts.settings.chunk) {
            if let Some(wait) = self.line.limits.paused().filter(|_| !self.over) {
                end = End::Wait(wait);
                break;
            }
            if stop.is_cancelled() {
                end = End::Stopped;
                break;
            }
            let claim = chunk.iter().map(|e| (e.position, zone_of(batch, e))).collect();
            let lease = self.parts.settings.lease.0;
            let claimed = match self.step(std::mem::take(&mut booked), claim, lease, now).await? {
                Stepped::Done(claimed) => claimed,
                Stepped::Held(left) => return Ok(End::Wait(left)),
                Stepped::NoSeal => return Ok(End::NoSeal),
            };
            let claimed =
                chunk.iter().zip(claimed).filter_map(|(entry, claim)| Some(Claimed { entry, claim: claim? }));
            let claimed: Vec<_> = claimed.collect();
            let again = claimed.iter().filter(|c| c.claim.maybe()).count();
            self.parts.metrics.claimed(&batch.channel, claimed.len() as u64, again as u64);
            now = self.parts.clock.now();
            booked = match push_chunk(self.parts, self.line, batch, &claimed, now).await {
                Ok(booked) => booked,
                Err(error) => return self.give_back(&claimed, now, error).await,
            };
            if booked.iter().any(|w| w.done.outcome == Outcome::Released) {
                // no quota in time, or the provider asked for less: the rest waits in the ladder
                end = End::Wait(self.line.limits.paused().unwrap_or(self.parts.settings.quota_wait.0));
                break;
            }
        }
        match self.step(booked, Vec::new(), Duration::ZERO, now).await? {
            Stepped::Done(_) => Ok(end),
            Stepped::Held(left) => Ok(End::Wait(left)),
            Stepped::NoSeal => Ok(End::NoSeal),
        }
    }

    /// Nothing of the chunk was pushed, since its users could not be read: sets it free, so that another try need not wait
    /// for the lease. Answers the error.
    async fn give_back(
        &mut self,
        claimed: &[Claimed<'_>],
        at: Instant,
        error: StoreError,
    ) -> Result<End, StoreError> {
        let released = claimed.iter().map(|c| {
            let (position, zone) = (c.entry.position, zone_of(self.batch, c.entry));
            Worked { done: Done { position, zone, outcome: Outcome::Released }, next: None }
        });
        if let Err(second) = self.step(released.collect(), Vec::new(), Duration::ZERO, at).await {
            tracing::debug!(%second, "a chunk could not be given back; its lease runs out");
        }
        Err(error)
    }

    async fn step(
        &mut self,
        booked: Vec<Worked>,
        claim: Vec<(u32, domain::Zone)>,
        term: Duration,
        at: Instant,
    ) -> Result<Stepped, StoreError> {
        let batch = self.batch;
        let mut done = Vec::with_capacity(booked.len());
        let mut counts = BTreeMap::<_, u64>::new();
        let (mut left, mut more) = (self.left.clone(), false);
        for worked in booked {
            *counts.entry(name(&worked.done.outcome)).or_default() += 1;
            if let Some(next) = worked.next {
                left.retry(self.parts, worked.done.position, next);
                more = true;
            } else if worked.done.outcome == Outcome::Closed(Reason::Attempts) {
                left.give_up(worked.done.position);
                more = true;
            }
            done.push(worked.done);
        }
        let stepped = self.parts.ledger.step(Step {
            seal: batch.seal(),
            batch: batch.id,
            attempt: batch.attempt,
            channel: batch.channel.clone(),
            owner: self.owner,
            term,
            done,
            claim,
            pending: more.then(|| pack(&left.messages(batch))),
            at,
        });
        let stepped = stepped.await?;
        if matches!(stepped, Stepped::Done(_)) {
            self.left = left;
            counts
                .into_iter()
                .for_each(|(outcome, count)| self.parts.metrics.users(&batch.channel, outcome, count));
        }
        Ok(stepped)
    }
}

/// A number for the work on one delivery that no other work on the same batch has.
fn owner(batch: &Batch) -> u64 {
    static WORKS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let work = WORKS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let at = Utc::now().timestamp_nanos_opt().unwrap_or_default();
    xxhash_rust::xxh3::xxh3_64(format!("{}{work}{at}{}", batch.id, std::process::id()).as_bytes())
}

fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Delivered => "delivered",
        Outcome::Closed(reason) => reason.class().name(),
        Outcome::Retry { .. } => "retry",
        Outcome::Released => "released",
        Outcome::Moved { .. } => "moved",
    }
}
