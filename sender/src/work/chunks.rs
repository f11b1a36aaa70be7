use std::{collections::BTreeSet, sync::Arc, time::Duration};

use chrono::Utc;
use domain::Instant;
use futures_util::future;
use job_queue::{Batch, BatchEntry};
use night_ledger::{Brakes, Done, Outcome, Owner, Stepped, StoreError};
use tokio_util::sync::CancellationToken;

use super::{LONGEST_HELD, rest_of};
use crate::{
    children::{Apart, Left, pack, publish},
    chunk::{Claimed, Worked, look_up, push_chunk, zone_of},
    parts::{Line, Parts},
};

/// The work on one batch.
pub(super) struct Work<'a> {
    pub(super) parts: &'a Parts,
    pub(super) line: &'a Line,
    pub(super) batch: &'a Batch,
    pub(super) owner: Owner,
    /// Past every deadline: nothing will be pushed, so no pause and no brake but an abort matters.
    pub(super) over: bool,
    /// What is recorded to be published before the batch may be acknowledged.
    pub(super) left: Left,
    /// What is to be recorded with the next step.
    pub(super) aside: Vec<Apart>,
    /// Who is in a batch of their own, in the queue or recorded.
    pub(super) elsewhere: BTreeSet<u32>,
    pub(super) stop: &'a CancellationToken,
    pub(super) began: tokio::time::Instant,
}

/// A claim that took longer than this has its users read again.
const LATE: Duration = Duration::from_secs(1);

/// How the chunks of a batch ended.
pub(super) enum End {
    /// All were worked, or set apart.
    Worked,
    /// The sender stops.
    Stopped,
    /// The rest cannot be worked now: another holds the lease, it is paused, or there is no quota.
    Wait(Duration),
    /// The ledger does not know the seal.
    NoSeal,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        parts: &'a Parts,
        line: &'a Line,
        batch: &'a Batch,
        elsewhere: BTreeSet<u32>,
        over: bool,
        stop: &'a CancellationToken,
    ) -> Self {
        let (owner, began) = (Owner(owner(batch)), tokio::time::Instant::now());
        Self {
            parts,
            line,
            batch,
            owner,
            over,
            left: Left::default(),
            aside: Vec::new(),
            elsewhere,
            stop,
            began,
        }
    }

    /// Sets apart what is not to be worked here and now, and works the rest.
    pub(super) async fn all(&mut self) -> Result<End, StoreError> {
        let mut rest = self.rest().entries;
        if let Some(end) = self.set_apart(&mut rest).await? {
            return Ok(end);
        }
        self.chunks(rest).await
    }

    async fn chunks(&mut self, mut rest: Vec<BatchEntry>) -> Result<End, StoreError> {
        let (batch, lease) = (self.batch, self.parts.settings.lease.0);
        let mut booked = Vec::new();
        let mut now = self.parts.clock.now();
        let end = loop {
            let (chunk, brakes) = match self.next_chunk(&mut rest, now).await {
                Ok(Next::Chunk(chunk, brakes)) => (chunk, brakes),
                Ok(Next::End(end)) => break Ok(end),
                Err(error) => break Err(error),
            };
            let claim = chunk.iter().map(|e| (e.position, zone_of(batch, e))).collect();
            // nobody is pushed to before both are known, and neither waits for the other
            let asked = tokio::time::Instant::now();
            let looking = look_up(self.parts, batch, &chunk);
            let stepping = self.step(std::mem::take(&mut booked), claim, lease, now);
            let (stepped, looked) = future::join(stepping, looking).await;
            let claims = match stepped? {
                Stepped::Done(claims) => claims,
                Stepped::Held(left) => return Ok(End::Wait(left)),
                Stepped::NoSeal => return Ok(End::NoSeal),
            };
            let all = chunk.iter().zip(claims).map(|(entry, claim)| Some(Claimed { entry, claim: claim? }));
            let all: Vec<_> = all.collect();
            let count = |wanted: fn(&Claimed<'_>) -> bool| all.iter().flatten().filter(|c| wanted(c)).count();
            let (got, again) = (count(|_| true), count(|c| c.claim.maybe()));
            self.parts.metrics.claimed(&batch.channel, got as u64, again as u64);
            now = self.parts.clock.now();
            // what was read before a ledger that was away came back is not what holds at the push
            let late = asked.elapsed() > LATE;
            let looked = if late { look_up(self.parts, batch, &chunk).await } else { looked };
            if late {
                now = self.parts.clock.now();
            }
            let looked = match looked {
                Ok(looked) => looked,
                Err(error) => return self.give_back(all.into_iter().flatten(), now, error).await,
            };
            let claimed: Vec<_> = all
                .into_iter()
                .zip(looked)
                .filter_map(|(claimed, looked)| Some((claimed?, looked)))
                .collect();
            booked = push_chunk(self.parts, self.line, batch, &claimed, &brakes, now).await;
            if booked.iter().any(|w| w.done.outcome == Outcome::Released) {
                // no quota in time, or the provider asked for less: the rest waits in the ladder
                let wait = rest_of(self.parts, self.line);
                break Ok(End::Wait(wait.unwrap_or(self.parts.settings.quota_wait.0)));
            }
        };
        // what was pushed is booked, whatever comes then
        match self.step(booked, Vec::new(), Duration::ZERO, now).await? {
            Stepped::Done(_) => end,
            Stepped::Held(left) => end.map(|_| End::Wait(left)),
            Stepped::NoSeal => end.map(|_| End::NoSeal),
        }
    }

    /// Takes the next chunk off the rest, unless there is none or it is not to be worked now.
    async fn next_chunk(&mut self, rest: &mut Vec<BatchEntry>, now: Instant) -> Result<Next, StoreError> {
        if rest.is_empty() {
            return Ok(Next::End(End::Worked));
        }
        if self.stop.is_cancelled() {
            return Ok(Next::End(End::Stopped));
        }
        let brakes = if self.over {
            // nothing is pushed: what an operator stopped is closed by one or the other
            self.brakes().await.unwrap_or_default()
        } else {
            if let Some(wait) = rest_of(self.parts, self.line) {
                return Ok(Next::End(End::Wait(wait)));
            }
            if self.began.elapsed() >= LONGEST_HELD {
                self.aside.push(Apart::new(None, rest.drain(..)));
                return Ok(Next::End(End::Worked));
            }
            let brakes = self.brakes().await?;
            if let Some(end) = self.without_paused(rest, &brakes, now) {
                return Ok(Next::End(end));
            }
            brakes
        };
        let chunk = self.parts.settings.chunk.clamp(1, rest.len());
        let after = rest.split_off(chunk);
        Ok(Next::Chunk(std::mem::replace(rest, after), brakes))
    }

    /// What operators put on the night.
    pub(super) async fn brakes(&self) -> Result<Arc<Brakes>, StoreError> {
        self.line.brakes.of(&*self.parts.ledger, &self.batch.night()).await
    }

    /// Puts what is recorded to be published into the queue; answers when all of it is confirmed.
    pub(super) async fn publish_left(&mut self) -> Result<(), StoreError> {
        if !self.left.is_empty() {
            let messages = self.left.messages(self.batch);
            publish(self.parts, self.batch, &messages).await?;
            self.parts.ledger.published(&self.batch.seal(), self.batch.id, &pack(&messages)).await?;
            self.left = Left::default();
        }
        Ok(())
    }

    /// Nothing of the chunk was pushed, since its users could not be read: sets it free, so that another try need not wait
    /// for the lease. Answers the error.
    async fn give_back(
        &mut self,
        claimed: impl Iterator<Item = Claimed<'_>>,
        at: Instant,
        error: StoreError,
    ) -> Result<End, StoreError> {
        let released = claimed.map(|c| {
            let (position, zone) = (c.entry.position, zone_of(self.batch, c.entry));
            Worked { done: Done { position, zone, outcome: Outcome::Released }, next: None, gone: Vec::new() }
        });
        if let Err(second) = self.step(released.collect(), Vec::new(), Duration::ZERO, at).await {
            tracing::debug!(%second, "a chunk could not be given back; its lease runs out");
        }
        Err(error)
    }
}

enum Next {
    Chunk(Vec<BatchEntry>, Arc<Brakes>),
    End(End),
}

/// A number for the work on one delivery that no other work on the same batch has.
fn owner(batch: &Batch) -> u64 {
    static WORKS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let work = WORKS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let at = Utc::now().timestamp_nanos_opt().unwrap_or_default();
    xxhash_rust::xxh3::xxh3_64(format!("{}{work}{at}{}", batch.id, std::process::id()).as_bytes())
}
