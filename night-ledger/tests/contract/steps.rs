//! Steps of senders: leases, take-overs, moves.

use std::{sync::Arc, time::Duration};

use domain::{BatchId, Shard};
use night_ledger::{Outcome, Reason, State, Step, Stepped};

use crate::{
    engine::Engine,
    rig::{
        USERS, all, channels, check, claims, granted, key, night, places, places_at, sample, sealed, step,
        those, zones,
    },
};

pub(crate) async fn a_lease_keeps_others_out_until_it_is_given_up_or_the_process_dies(
    engine: &mut dyn Engine,
) {
    let ledger = sealed(engine).await;
    let claim = |owner| Step { claim: places(0), ..step(0, 1, owner) };
    let first = granted(&*ledger, claim(1)).await;
    let mine = those(&places(0), &first);
    assert!(!mine.is_empty());
    let other = ledger.step(claim(2)).await.unwrap();
    assert!(matches!(other, Stepped::Held(left) if left > Duration::from_secs(500)), "{other:?}");
    // the same owner may ask again, as when an answer was lost, without a mark
    assert_eq!(granted(&*ledger, claim(1)).await, first);
    assert!(claims(&*ledger).await.iter().all(|claim| !claim.maybe()));
    drop(ledger);
    engine.kill().await;
    let ledger = engine.ledger();
    assert_eq!(those(&places(0), &granted(&*ledger, claim(2)).await), mine);
    assert_eq!(claims(&*ledger).await.iter().filter(|claim| claim.maybe()).count(), mine.len());
    assert_eq!(check(&*ledger).await.duplicates, 0, "nothing was pushed again yet");
    granted(&*ledger, Step { done: all(&mine, &Outcome::Delivered), ..step(0, 1, 2) }).await;
    assert_eq!(check(&*ledger).await.duplicates, mine.len() as u64);
}

pub(crate) async fn every_chunk_that_was_in_flight_is_marked_when_it_is_taken_over(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    // two chunks of one batch; the first owner recorded the first and was killed with the second in flight
    let (first, second) = (places(1), places(2));
    granted(&*ledger, Step { claim: first.clone(), ..step(1, 1, 1) }).await;
    let done = all(&first, &Outcome::Delivered);
    granted(&*ledger, Step { done, claim: second.clone(), ..step(1, 1, 1) }).await;
    drop(ledger);
    engine.kill().await;
    let ledger = engine.ledger();
    let none = granted(&*ledger, Step { claim: first, ..step(1, 1, 2) }).await;
    assert!(none.iter().all(Option::is_none));
    let taken = granted(&*ledger, Step { claim: second, ..step(1, 1, 2) }).await;
    assert!(taken.iter().flatten().count() > 5);
    assert!(taken.iter().flatten().all(|claim| claim.maybe() && !claim.again()));
}

pub(crate) async fn two_batches_with_the_same_users_do_not_take_each_others_claims(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let twin = Step { batch: BatchId(77), claim: places(1), ..step(1, 1, 2) };
    let first = granted(&*ledger, Step { claim: places(1), ..step(1, 1, 1) }).await;
    assert!(first.iter().flatten().count() > 5);
    let second = granted(&*ledger, twin.clone()).await;
    assert_eq!(second.iter().flatten().count(), 0, "they are in flight under a live lease");
    // nor does it book them
    let done = all(&places(1), &Outcome::Retry { maybe: false });
    granted(&*ledger, Step { done, claim: Vec::new(), ..twin.clone() }).await;
    assert!(claims(&*ledger).await.iter().all(|claim| !matches!(claim.state(), State::Free(2))));
    granted(&*ledger, Step { term: Duration::ZERO, ..step(1, 1, 1) }).await;
    let third = granted(&*ledger, twin).await;
    assert_eq!(third.iter().flatten().filter(|claim| claim.maybe()).count(), first.iter().flatten().count());
    check(&*ledger).await;
}

pub(crate) async fn a_seal_or_position_that_is_not_there_is_told(engine: &mut dyn Engine) {
    let ledger = engine.ledger();
    let claim = Step { claim: places(0), ..step(0, 1, 1) };
    assert_eq!(ledger.step(claim.clone()).await.unwrap(), Stepped::NoSeal);
    assert_eq!(ledger.step(step(0, 1, 1)).await.unwrap(), Stepped::NoSeal);
    let ledger = sealed(engine).await;
    for beyond in [USERS, USERS + 5_000, u32::MAX] {
        let beyond = Step { claim: vec![(USERS - 1, zones()[0]), (beyond, zones()[0])], ..step(1, 1, 1) };
        assert_eq!(ledger.step(beyond).await.unwrap(), Stepped::NoSeal);
    }
    assert!(matches!(ledger.step(claim).await.unwrap(), Stepped::Done(_)));
    assert_eq!(claims(&*ledger).await[USERS as usize - 1].state(), State::Free(1));
    ledger.claims(&key(), &[3, USERS]).await.unwrap_err();
}

pub(crate) async fn an_attempt_that_cannot_be_changes_nothing(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let before = claims(&*ledger).await;
    for attempt in [0, 16, 255] {
        let done = all(&places(1), &Outcome::Delivered);
        let answer = granted(&*ledger, Step { done, claim: places(2), ..step(1, attempt, 1) }).await;
        assert!(answer.iter().all(Option::is_none));
    }
    assert_eq!(claims(&*ledger).await, before);
}

pub(crate) async fn what_is_to_be_published_is_kept_with_the_outcomes_until_it_is(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let first = step(1, 1, 1);
    granted(&*ledger, Step { claim: places(1), ..first.clone() }).await;
    for text in [&b"child"[..], b"", b"two\r\n\0children"] {
        granted(&*ledger, Step { pending: Some(text.to_vec()), ..first.clone() }).await;
        granted(&*ledger, first.clone()).await;
        assert_eq!(ledger.pending(&key(), first.batch).await.unwrap(), [text.to_vec()]);
    }
    assert_eq!(ledger.pending(&key(), BatchId(5)).await.unwrap(), Vec::<Vec<u8>>::new());
    drop(ledger);
    engine.kill().await;
    let ledger = engine.ledger();
    let last = b"two\r\n\0children";
    assert_eq!(ledger.pending(&key(), first.batch).await.unwrap(), [last.to_vec()]);
    ledger.published(&key(), first.batch, last).await.unwrap();
    assert!(ledger.pending(&key(), first.batch).await.unwrap().is_empty());
    ledger.published(&key(), first.batch, last).await.unwrap();
}

pub(crate) async fn what_is_published_takes_nothing_along_that_is_not(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    // without a lease, since two owners work on the same batch one after the other
    let by =
        |owner, text: &[u8]| Step { pending: Some(text.to_vec()), term: Duration::ZERO, ..step(1, 1, owner) };
    let batch = step(1, 1, 1).batch;
    let left = async || {
        let mut left = ledger.pending(&key(), batch).await.unwrap();
        left.sort();
        left
    };
    granted(&*ledger, by(1, b"first")).await;
    granted(&*ledger, by(u64::MAX, b"other's")).await;
    granted(&*ledger, by(0, b"")).await;
    assert_eq!(left().await, [&b""[..], b"first", b"other's"]);
    // the owner went on while somebody else published what it had left
    granted(&*ledger, by(1, b"first, second")).await;
    ledger.published(&key(), batch, b"first").await.unwrap();
    assert_eq!(left().await, [&b""[..], b"first, second", b"other's"]);
    ledger.published(&key(), batch, b"").await.unwrap();
    ledger.published(&key(), BatchId(batch.0 + 1), b"other's").await.unwrap();
    assert_eq!(left().await, [&b"first, second"[..], b"other's"]);
    ledger.published(&key(), batch, b"other's").await.unwrap();
    ledger.published(&key(), batch, b"first, second").await.unwrap();
    assert!(left().await.is_empty());
}

pub(crate) async fn a_move_takes_due_and_open_along(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let moved = places_at([13, 14, 18]);
    granted(&*ledger, Step { claim: moved.clone(), ..step(1, 1, 1) }).await;
    let done = all(&moved, &Outcome::Moved { channel: channels()[1].clone() });
    granted(&*ledger, Step { done, ..step(1, 1, 1) }).await;
    check(&*ledger).await;
    let total = |lines: &night_ledger::Sums, channel: usize| {
        let lines = lines.lines.iter().filter(|((_, _, name), _)| *name == channels()[channel]);
        lines.fold((0, 0), |(due, open), (_, line)| (due + line.due, open + line.open))
    };
    let sums = ledger.sums(&night()).await.unwrap();
    assert_eq!(total(&sums, 1), (3, 3));
    assert_eq!(total(&sums, 0).0, u64::from(USERS) - 3);
    let held = ledger.claims(&key(), &[18, 12, 13, 13]).await.unwrap();
    let names: Vec<_> = held.into_iter().map(|held| held.moved).collect();
    let there = Some(channels()[1].clone());
    assert_eq!(names, [there.clone(), None, there.clone(), there]);
    let why = ledger.why(&night(), sample().due[13].uid).await.unwrap().unwrap();
    assert_eq!((why.position, why.zone, why.channel), (13, moved[0].1, channels()[1].clone()));
    assert_eq!(why.claim.state(), State::Free(2));
    assert_eq!(
        why.worked.iter().map(|worked| (worked.batch, worked.attempt)).collect::<Vec<_>>(),
        [(step(1, 1, 1).batch, 1)]
    );
    assert_eq!(why.worked[0].at, step(1, 1, 1).at);
    // worked on the other channel, it is booked there
    let child = Step { channel: channels()[1].clone(), ..step(1, 2, 1) };
    granted(&*ledger, Step { claim: moved.clone(), ..child.clone() }).await;
    granted(&*ledger, Step { done: all(&moved, &Outcome::Delivered), ..child }).await;
    assert_eq!(check(&*ledger).await.delivered, 3);
    assert_eq!(total(&ledger.sums(&night()).await.unwrap(), 1), (3, 0));
    assert_eq!(ledger.why(&night(), sample().due[13].uid).await.unwrap().unwrap().worked.len(), 2);
}

pub(crate) async fn a_step_whose_answer_was_lost_ends_the_same(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let first = Step { claim: places(1), ..step(1, 1, 1) };
    let answer = granted(&*ledger, first.clone()).await;
    assert_eq!(granted(&*ledger, first).await, answer);
    let mut done = all(&places(1), &Outcome::Delivered);
    done[2].outcome = Outcome::Retry { maybe: true };
    done[3].outcome = Outcome::Released;
    done[4].outcome = Outcome::Closed(Reason::NoSteps);
    done[5].outcome = Outcome::Moved { channel: channels()[1].clone() };
    let second = Step { done, claim: places(2), pending: Some(b"child".to_vec()), ..step(1, 1, 1) };
    let answer = granted(&*ledger, second.clone()).await;
    let (sums, bytes) = (ledger.sums(&night()).await.unwrap(), claims(&*ledger).await);
    for _ in 0..3 {
        assert_eq!(granted(&*ledger, second.clone()).await, answer);
        assert_eq!(ledger.sums(&night()).await.unwrap(), sums);
        assert_eq!(claims(&*ledger).await, bytes);
    }
    check(&*ledger).await;
    let why = ledger.why(&night(), sample().due[places(1)[6].0 as usize].uid).await.unwrap().unwrap();
    assert_eq!(why.worked.len(), 1, "logged once");
    assert_eq!(ledger.seals(&night(), Shard(0)).await.unwrap()[0].1.open, check(&*ledger).await.open);
}

pub(crate) async fn who_comes_back_late_books_nothing_that_is_anothers(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let mine = those(&places(1), &granted(&*ledger, Step { claim: places(1), ..step(1, 1, 1) }).await);
    drop(ledger);
    engine.kill().await;
    let ledger = engine.ledger();
    granted(&*ledger, Step { claim: places(1), ..step(1, 1, 2) }).await;
    let before = claims(&*ledger).await;
    let late = Step { done: all(&mine, &Outcome::Closed(Reason::Refused)), ..step(1, 1, 1) };
    assert!(matches!(ledger.step(late.clone()).await.unwrap(), Stepped::Held(_)));
    assert_eq!(claims(&*ledger).await, before);
    // the second one finishes and goes; the first one finds it over
    let done = all(&mine, &Outcome::Delivered);
    granted(&*ledger, Step { done, term: Duration::ZERO, ..step(1, 1, 2) }).await;
    granted(&*ledger, late).await;
    let line = check(&*ledger).await;
    assert_eq!((line.delivered, line.duplicates), (mine.len() as u64, mine.len() as u64));
}

pub(crate) async fn an_outcome_that_comes_twice_does_not_free_what_another_took(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let mine = those(&places(1), &granted(&*ledger, Step { claim: places(1), ..step(1, 1, 1) }).await);
    let release = Step { done: all(&mine, &Outcome::Released), ..step(1, 1, 1) };
    granted(&*ledger, release.clone()).await;
    // a batch that was split off takes them, and the answer to the release had been lost
    let twin = Step { batch: BatchId(77), claim: mine.clone(), ..step(1, 1, 2) };
    assert_eq!(those(&mine, &granted(&*ledger, twin.clone()).await), mine);
    granted(&*ledger, release).await;
    let now = claims(&*ledger).await;
    assert!(mine.iter().all(|(position, _)| now[*position as usize].state() == State::Claimed(1)));
    granted(&*ledger, Step { done: all(&mine, &Outcome::Delivered), claim: Vec::new(), ..twin }).await;
    let line = check(&*ledger).await;
    assert_eq!((line.delivered, line.duplicates), (mine.len() as u64, 0));
}

pub(crate) async fn scattered_users_go_like_neighbours(engine: &mut dyn Engine) {
    let ledger: Arc<_> = sealed(engine).await;
    let scattered: Vec<_> = places_at((0..USERS).rev().filter(|p| p % 3 == 1 || p % 7 == 2));
    let mine =
        those(&scattered, &granted(&*ledger, Step { claim: scattered.clone(), ..step(1, 1, 1) }).await);
    let between: Vec<_> = places_at((0..USERS).filter(|p| p % 3 == 0 && p % 7 != 2));
    let theirs = those(&between, &granted(&*ledger, Step { claim: between.clone(), ..step(2, 1, 2) }).await);
    assert!(mine.len() > 30 && theirs.len() > 20);
    granted(&*ledger, Step { done: all(&mine, &Outcome::Retry { maybe: true }), ..step(1, 1, 1) }).await;
    granted(&*ledger, Step { done: all(&theirs, &Outcome::Delivered), ..step(2, 1, 2) }).await;
    let again = granted(&*ledger, Step { claim: mine.clone(), ..step(1, 2, 1) }).await;
    assert!(again.iter().all(|claim| claim.is_some_and(|c| c.maybe() && c.state() == State::Claimed(2))));
    granted(&*ledger, Step { done: all(&mine, &Outcome::Delivered), ..step(1, 2, 1) }).await;
    let line = check(&*ledger).await;
    assert_eq!((line.delivered, line.duplicates), ((mine.len() + theirs.len()) as u64, mine.len() as u64));
}
