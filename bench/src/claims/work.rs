use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use anyhow::{Context, bail, ensure};
use chrono::Utc;
use domain::{BatchId, SealKey, Zone};
use night_ledger::{Done, NightLedger, Outcome, Owner, Seal, Step, Stepped};

/// Batches at work at once.
const AT_ONCE: usize = 16;
/// Users of a batch, at most: as many as the scheduler puts into one.
const BATCH: usize = 1_000;
/// The term of a lease, as the program has it by default.
const TERM: std::time::Duration = std::time::Duration::from_secs(60);

/// Works every batch of the seals as a sender would whose pushes take no time: claims a chunk in the step that books the
/// one before.
pub(super) async fn work(
    ledger: &Arc<dyn NightLedger>,
    seals: Arc<Vec<(SealKey, Seal)>>,
    chunk: usize,
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
                    let batch = BatchId::root(key, *index);
                    work_batch(&*ledger, key, seal, batch, users.clone(), owner, chunk).await?;
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

async fn work_batch(
    ledger: &dyn NightLedger,
    key: &SealKey,
    seal: &Seal,
    batch: BatchId,
    users: std::ops::Range<usize>,
    owner: Owner,
    chunk: usize,
) -> anyhow::Result<()> {
    let step = |done: &[(u32, Zone)], claim: &[(u32, Zone)], term| Step {
        seal: key.clone(),
        batch,
        attempt: 1,
        channel: seal.channels[0].clone(),
        owner,
        term,
        done: done
            .iter()
            .map(|&(position, zone)| Done { position, zone, outcome: Outcome::Delivered })
            .collect(),
        claim: claim.to_vec(),
        pending: None,
        at: Utc::now(),
    };
    let positions: Vec<(u32, Zone)> = users
        .map(|at| Ok((u32::try_from(at)?, seal.zones[usize::from(seal.due[at].zone)].zone)))
        .collect::<anyhow::Result<_>>()?;
    let mut done: &[(u32, Zone)] = &[];
    for claim in positions.chunks(chunk) {
        match ledger.step(step(done, claim, TERM)).await? {
            Stepped::Done(claimed) => ensure!(claimed.iter().all(Option::is_some), "a claim was another's"),
            other => bail!("{other:?}"),
        }
        done = claim;
    }
    match ledger.step(step(done, &[], std::time::Duration::ZERO)).await? {
        Stepped::Done(_) => Ok(()),
        other => bail!("{other:?}"),
    }
}
