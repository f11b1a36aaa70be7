use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use chrono::Utc;
use domain::{BatchId, SealKey, Zone};
use night_ledger::{Done, NightLedger, Outcome, Owner, Seal, Step, Stepped};

use super::outcomes::Outcomes;

/// Batches at work at once.
const AT_ONCE: usize = 16;
/// Users of a batch, at most: as many as the scheduler puts into one.
const BATCH: usize = 1_000;
/// The term of a lease, as the program has it by default.
const TERM: Duration = Duration::from_secs(60);

/// Works every batch of the seals as a sender would whose pushes take no time: claims a chunk in the step that books the
/// one before. Who is to be tried again is so in a child batch, right after its parent.
pub(super) async fn work(
    ledger: &Arc<dyn NightLedger>,
    seals: Arc<Vec<(SealKey, Seal)>>,
    chunk: usize,
    outcomes: Outcomes,
) -> anyhow::Result<()> {
    let batches: Vec<_> = seals
        .iter()
        .enumerate()
        .flat_map(|(at, (_, seal))| {
            seal.batches(BATCH).into_iter().zip(0..).map(move |(cut, index)| (at, index, cut.2))
        })
        .collect();
    let (batches, next) = (Arc::new(batches), Arc::new(AtomicUsize::new(0)));
    let tasks: Vec<_> = (0..AT_ONCE)
        .map(|number| {
            let (ledger, seals) = (Arc::clone(ledger), Arc::clone(&seals));
            let (batches, next) = (Arc::clone(&batches), Arc::clone(&next));
            tokio::spawn(async move {
                let owner = Owner(u64::try_from(number)? + 1);
                while let Some((at, index, users)) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (key, seal) = &seals[*at];
                    let work = Work { ledger: &*ledger, key, seal, owner, chunk };
                    work.batch(BatchId::root(key, *index), users.clone(), outcomes).await?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await.context("a task ended")??;
    }
    Ok(())
}

/// The work of one owner on a seal.
struct Work<'a> {
    ledger: &'a dyn NightLedger,
    key: &'a SealKey,
    seal: &'a Seal,
    owner: Owner,
    chunk: usize,
}

impl Work<'_> {
    /// Works a batch, and the child of those it leaves.
    async fn batch(&self, batch: BatchId, users: Range<usize>, outcomes: Outcomes) -> anyhow::Result<()> {
        let of = |at: usize| {
            let due = self.seal.due.get(at).context("a batch reaches beyond its seal")?;
            let zone =
                self.seal.zones.get(usize::from(due.zone)).context("a user's zone is not in the seal")?;
            anyhow::Ok(Done {
                position: u32::try_from(at)?,
                zone: zone.zone,
                outcome: outcomes.first(due.uid),
            })
        };
        let all = users.map(of).collect::<anyhow::Result<Vec<_>>>()?;
        let left = self.attempt(batch, 1, &all).await?;
        if left.is_empty() {
            return Ok(());
        }
        self.ledger.published(self.key, batch, &message(&left)).await?;
        let child = batch.child(2, &self.seal.channels[0], left.iter().map(|done| done.position));
        let again: Vec<_> =
            left.into_iter().map(|done| Done { outcome: Outcome::Delivered, ..done }).collect();
        ensure!(self.attempt(child, 2, &again).await?.is_empty(), "a second attempt left somebody");
        Ok(())
    }

    /// Works a batch with these outcomes; answers who is to be tried again, which is kept in the ledger to be published.
    async fn attempt(&self, batch: BatchId, attempt: u8, all: &[Done]) -> anyhow::Result<Vec<Done>> {
        let (mut done, mut left): (&[Done], Vec<Done>) = (&[], Vec::new());
        for claim in all.chunks(self.chunk) {
            let places: Vec<(u32, Zone)> = claim.iter().map(|done| (done.position, done.zone)).collect();
            let pending = leave(&mut left, done);
            let claimed = self.step(batch, attempt, done, places, pending, TERM).await?;
            ensure!(claimed.iter().all(Option::is_some), "a claim was another's");
            done = claim;
        }
        let pending = leave(&mut left, done);
        self.step(batch, attempt, done, Vec::new(), pending, Duration::ZERO).await?;
        Ok(left)
    }

    async fn step(
        &self,
        batch: BatchId,
        attempt: u8,
        done: &[Done],
        claim: Vec<(u32, Zone)>,
        pending: Option<Vec<u8>>,
        term: Duration,
    ) -> anyhow::Result<Vec<Option<night_ledger::Claim>>> {
        let step = Step {
            seal: self.key.clone(),
            batch,
            attempt,
            channel: self.seal.channels[0].clone(),
            owner: self.owner,
            term,
            done: done.to_vec(),
            claim,
            pending,
            at: Utc::now(),
        };
        match self.ledger.step(step).await? {
            Stepped::Done(claimed) => Ok(claimed),
            other => bail!("{other:?}"),
        }
    }
}

/// Adds those of a chunk who are to be tried again to those of the chunks before; what is to be published then, where that
/// is more than before.
fn leave(left: &mut Vec<Done>, chunk: &[Done]) -> Option<Vec<u8>> {
    let before = left.len();
    left.extend(chunk.iter().filter(|done| matches!(done.outcome, Outcome::Retry { .. })).cloned());
    (left.len() > before).then(|| message(left))
}

/// What stands for the child's message. The ledger does not read it; it is about as long.
fn message(left: &[Done]) -> Vec<u8> {
    left.iter().flat_map(|done| done.position.to_le_bytes()).collect()
}
