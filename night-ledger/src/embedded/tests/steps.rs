//! Steps of senders: leases, take-overs, moves.

use super::*;

#[tokio::test]
async fn a_lease_keeps_others_out_until_it_is_given_up_or_the_process_dies() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let ledger = open(&path).await;
    ledger.seal(&key(), &sample()).await.unwrap();
    let claim = |owner| Step { claim: positions(0), ..step(0, 1, owner) };
    let Stepped::Done(first) = ledger.step(claim(1)).await.unwrap() else { panic!("held") };
    let fresh = first.iter().flatten().count();
    assert!(fresh > 0);
    assert!(
        matches!(ledger.step(claim(2)).await.unwrap(), Stepped::Held(left) if left > Duration::from_secs(500))
    );
    // the same owner may ask again, as when an answer was lost, without a mark
    assert_eq!(ledger.step(claim(1)).await.unwrap(), Stepped::Done(first.clone()));
    assert_eq!(check(&ledger).await.duplicates, 0);
    drop(ledger);
    let ledger = open(&path).await;
    let Stepped::Done(second) = ledger.step(claim(2)).await.unwrap() else { panic!("held") };
    assert_eq!(second.iter().flatten().count(), fresh);
    let held = ledger.claims(&key(), &(0..CHUNK).collect::<Vec<_>>()).await.unwrap();
    assert_eq!(held.iter().filter(|h| h.claim.maybe()).count(), fresh);
    assert_eq!(check(&ledger).await.duplicates, 0, "nothing was pushed again yet");
    let places: Vec<_> = positions(0).into_iter().zip(second).filter(|(_, claim)| claim.is_some()).collect();
    let done =
        places.iter().map(|&((position, zone), _)| Done { position, zone, outcome: Outcome::Delivered });
    ledger.step(Step { done: done.collect(), ..step(0, 1, 2) }).await.unwrap();
    assert_eq!(check(&ledger).await.duplicates, fresh as u64);
}

#[tokio::test]
async fn every_chunk_that_was_in_flight_is_marked_when_it_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let ledger = open(&path).await;
    ledger.seal(&key(), &sample()).await.unwrap();
    // two chunks of one batch; the first owner recorded the first and was killed with the second in flight
    let (first, second) = (positions(1), positions(2));
    let delivered = |places: &[(u32, Zone)]| {
        places.iter().map(|&(position, zone)| Done { position, zone, outcome: Outcome::Delivered }).collect()
    };
    ledger.step(Step { claim: first.clone(), ..step(1, 1, 1) }).await.unwrap();
    ledger.step(Step { done: delivered(&first), claim: second.clone(), ..step(1, 1, 1) }).await.unwrap();
    drop(ledger);
    let ledger = open(&path).await;
    let Stepped::Done(none) = ledger.step(Step { claim: first, ..step(1, 1, 2) }).await.unwrap() else {
        panic!()
    };
    assert!(none.iter().all(Option::is_none));
    let Stepped::Done(taken) = ledger.step(Step { claim: second, ..step(1, 1, 2) }).await.unwrap() else {
        panic!()
    };
    assert!(taken.iter().flatten().count() > 5);
    assert!(taken.iter().flatten().all(|c| c.maybe() && !c.again()));
}

#[tokio::test]
async fn two_batches_with_the_same_users_do_not_take_each_others_claims() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder.path().join("data")).await;
    ledger.seal(&key(), &sample()).await.unwrap();
    let twin = Step { batch: BatchId(77), claim: positions(1), ..step(1, 1, 2) };
    let Stepped::Done(first) = ledger.step(Step { claim: positions(1), ..step(1, 1, 1) }).await.unwrap()
    else {
        panic!()
    };
    assert!(first.iter().flatten().count() > 5);
    let Stepped::Done(second) = ledger.step(twin.clone()).await.unwrap() else { panic!() };
    assert_eq!(second.iter().flatten().count(), 0, "they are in flight under a live lease");
    ledger.step(Step { term: Duration::ZERO, ..step(1, 1, 1) }).await.unwrap();
    let Stepped::Done(third) = ledger.step(twin).await.unwrap() else { panic!() };
    assert_eq!(third.iter().flatten().filter(|c| c.maybe()).count(), first.iter().flatten().count());
}

#[tokio::test]
async fn a_step_that_runs_twice_in_the_writer_marks_what_it_takes_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let ledger = open(&path).await;
    ledger.seal(&key(), &sample()).await.unwrap();
    ledger.step(Step { claim: positions(1), ..step(1, 1, 1) }).await.unwrap();
    drop(ledger);
    let file = Arc::new(File::open(&path).unwrap());
    let ledger = EmbeddedLedger::open(Arc::clone(&file)).await.unwrap();
    for _ in 0..20 {
        // a neighbour in the group that fails makes the group run again
        let failing =
            file.write(|_| -> Result<(), _> { Err(plumbing::FileError::entry("test", "on purpose")) });
        let taking = ledger.step(Step { claim: positions(1), ..step(1, 1, 2) });
        let (failed, taken) = tokio::join!(failing, taking);
        failed.unwrap_err();
        let Stepped::Done(taken) = taken.unwrap() else { panic!() };
        assert!(taken.iter().flatten().all(|c| c.maybe()));
    }
}

#[tokio::test]
async fn a_seal_or_position_that_is_not_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder.path().join("data")).await;
    let claim = Step { claim: positions(0), ..step(0, 1, 1) };
    assert_eq!(ledger.step(claim.clone()).await.unwrap(), Stepped::NoSeal);
    ledger.seal(&key(), &sample()).await.unwrap();
    let beyond = Step { claim: vec![(USERS, zones()[0])], ..step(1, 1, 1) };
    assert_eq!(ledger.step(beyond).await.unwrap(), Stepped::NoSeal);
    assert!(matches!(ledger.step(claim).await.unwrap(), Stepped::Done(_)));
}

#[tokio::test]
async fn what_is_to_be_published_is_kept_with_the_outcomes_until_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let ledger = open(&path).await;
    ledger.seal(&key(), &sample()).await.unwrap();
    let first = step(1, 1, 1);
    ledger.step(Step { claim: positions(1), ..first.clone() }).await.unwrap();
    ledger.step(Step { pending: Some(b"child".to_vec()), ..first.clone() }).await.unwrap();
    drop(ledger);
    let ledger = open(&path).await;
    assert_eq!(ledger.pending(&key(), first.batch).await.unwrap().as_deref(), Some(&b"child"[..]));
    ledger.published(&key(), first.batch).await.unwrap();
    assert_eq!(ledger.pending(&key(), first.batch).await.unwrap(), None);
}

#[tokio::test]
async fn a_move_takes_due_and_open_along() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(&folder.path().join("data")).await;
    ledger.seal(&key(), &sample()).await.unwrap();
    ledger.shard_count(&night(), ShardCount::MIN).await.unwrap();
    let (position, zone) = positions(1)[3];
    ledger.step(Step { claim: vec![(position, zone)], ..step(1, 1, 1) }).await.unwrap();
    let moved = Done { position, zone, outcome: Outcome::Moved { channel: channels()[1].clone() } };
    ledger.step(Step { done: vec![moved], ..step(1, 1, 1) }).await.unwrap();
    check(&ledger).await;
    let sums = ledger.sums(&night()).await.unwrap();
    let line = sums.lines[&(zone, Shard(0), channels()[1].clone())];
    assert_eq!((line.due, line.open), (1, 1));
    let why = ledger.why(&night(), sample().due[position as usize].uid).await.unwrap().unwrap();
    assert_eq!((why.position, why.zone, why.channel), (position, zone, channels()[1].clone()));
    assert_eq!(why.claim.state(), State::Free(2));
    assert_eq!(why.worked.len(), 1);
    assert_eq!(why.worked[0].attempt, 1);
}
