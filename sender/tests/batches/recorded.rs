//! What a sender recorded and did not publish, and claims whose answer was lost.

use std::{sync::atomic::Ordering, time::Duration};

use job_queue::{Batch, DeadLetter, DeadReason, JobQueue, encoding};
use night_ledger::{Done, NightLedger, Outcome, Owner, Step, Stepped};
use sender::{Ended, channel::Quota};

use crate::{
    LATER,
    rig::{Provider, Rig, settings, stub, user},
};

/// A sender that is cut off from the broker and not from the ledger goes on while another has the redelivery. What it records
/// between the other's look and the other's end is published all the same, though it dies before it can do so itself.
#[tokio::test]
async fn what_another_records_meanwhile_is_published_too() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=20).map(user).collect(), |_| 5_000).await;
    let (first, second) = (child(&batch, 0..10), child(&batch, 10..20));
    let claims = step(&batch, Vec::new(), &[], Some(0..10));
    let goes_on = step(&batch, (0..10).collect(), std::slice::from_ref(&first), Some(10..20));
    let ends = step(&batch, (10..20).collect(), &[first, second], None);
    for step in [claims, goes_on] {
        assert!(matches!(rig.ledger.step(step).await.unwrap(), Stepped::Done(_)));
    }
    *rig.ledger.meanwhile.lock().unwrap() = Some(ends);
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
    assert!(rig.ledger.pending(&batch.seal(), batch.id).await.unwrap().is_empty());
    rig.drain().await;
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.open, sums.duplicates, provider.count()), (20, 0, 0, 20));
}

/// A batch that was buried before what it had recorded was published bears no sign of it.
#[tokio::test]
async fn a_dead_letter_that_is_replayed_publishes_what_was_recorded_of_it() {
    let provider = Provider::new(|seen, times| if seen.uid <= 5 && times == 1 { Err(LATER) } else { Ok(()) });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=30).map(user).collect(), |_| 5_000).await;
    rig.cut.store(true, Ordering::SeqCst);
    rig.work(&batch).await.unwrap_err();
    rig.cut.store(false, Ordering::SeqCst);
    let letter = DeadLetter {
        channel: stub(),
        reason: DeadReason::Panicked,
        detail: String::new(),
        at: batch.instant,
        bytes: encoding::encode(&batch),
    };
    rig.raw.bury(letter).await.unwrap();
    let letters = rig.raw.dead(None, 1).await.unwrap();
    let replayed = Batch { not_before: None, ..encoding::decode(&letters[0].1.bytes).unwrap() };
    rig.raw.publish(&[replayed]).await.unwrap();
    rig.drain().await;
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.open, provider.count()), (30, 0, 35));
}

/// A claim whose answer was lost is the same claim when it is asked for once more: nothing was pushed under it.
#[tokio::test]
async fn a_claim_whose_answer_was_lost_is_no_push_that_may_have_been() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=30).map(user).collect(), |_| 5_000).await;
    rig.ledger.claims_lost.store(3, Ordering::SeqCst);
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
    assert_eq!(rig.ledger.claims_lost.load(Ordering::SeqCst), 0);
    let claims = rig.ledger.claims(&rig.key(), &(0..30).collect::<Vec<_>>()).await.unwrap();
    assert!(claims.iter().all(|held| !held.claim.maybe()));
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.duplicates, provider.count()), (30, 0, 30));
}

fn child(parent: &Batch, positions: std::ops::Range<u32>) -> Batch {
    let entries = parent.entries.iter().filter(|e| positions.contains(&e.position)).copied();
    Batch {
        id: parent.id.child(2, &stub(), positions.clone()),
        attempt: 2,
        entries: entries.collect(),
        ..parent.clone()
    }
}

/// A step of the other sender, which retries those it books.
fn step(batch: &Batch, done: Vec<u32>, pending: &[Batch], claim: Option<std::ops::Range<u32>>) -> Step {
    let zone = batch.zones[0].zone;
    let outcome = Outcome::Retry { maybe: false };
    let done = done.into_iter().map(|position| Done { position, zone, outcome: outcome.clone() });
    let mut bytes = Vec::new();
    for message in pending.iter().map(encoding::encode) {
        plumbing::varint::put(&mut bytes, message.len() as u64);
        bytes.extend(message);
    }
    Step {
        seal: batch.seal(),
        batch: batch.id,
        attempt: 1,
        channel: stub(),
        owner: Owner(900),
        term: if claim.is_some() { Duration::from_secs(60) } else { Duration::ZERO },
        done: done.collect(),
        claim: claim.into_iter().flatten().map(|position| (position, zone)).collect(),
        pending: (!pending.is_empty()).then_some(bytes),
        at: batch.instant,
    }
}
