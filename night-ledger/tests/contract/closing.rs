//! Closing, aborting, opening again.

use std::time::Duration;

use night_ledger::{ClosedOpen, Outcome, Reason, State, Step};

use crate::{
    engine::Engine,
    rig::{
        USERS, all, channels, check, claims, granted, key, night, places, sample, sealed, step, those, zones,
    },
};

pub(crate) async fn closing_calls_uncertain_what_may_have_been_taken(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let mine = those(&places(1), &granted(&*ledger, Step { claim: places(1), ..step(1, 1, 1) }).await);
    let mut done = all(&mine, &Outcome::Retry { maybe: false });
    done.iter_mut().take(3).for_each(|done| done.outcome = Outcome::Retry { maybe: true });
    granted(&*ledger, Step { done, term: Duration::ZERO, ..step(1, 1, 1) }).await;
    let closed = ledger.close(&key(), USERS).await.unwrap();
    assert_eq!((closed.uncertain, closed.expired, closed.missed), (3, mine.len() as u64 - 3, 0));
    assert_eq!(check(&*ledger).await.open, 0);
}

pub(crate) async fn closing_tells_missed_from_never_worked_and_happens_once(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    granted(&*ledger, Step { claim: places(0), ..step(0, 1, 1) }).await;
    let open_before = check(&*ledger).await.open;
    let closed = ledger.close(&key(), 50).await.unwrap();
    assert_eq!(closed.missed + closed.never_worked + closed.uncertain, open_before);
    assert!(closed.missed > 30 && closed.never_worked > 30 && closed.uncertain >= 9, "{closed:?}");
    assert_eq!(check(&*ledger).await.open, 0);
    let seals = ledger.seals(&night(), key().shard).await.unwrap();
    assert!(seals[0].1.closed && seals[0].1.open == 0);
    assert_eq!(ledger.close(&key(), 0).await.unwrap(), ClosedOpen::default());
    // an answer that comes after the end changes nothing
    let late = Step { done: all(&places(0), &Outcome::Delivered), claim: places(1), ..step(0, 1, 1) };
    assert!(granted(&*ledger, late).await.iter().all(Option::is_none));
    assert_eq!(check(&*ledger).await.delivered, 0);
    assert_eq!(ledger.abort(&key(), None).await.unwrap(), 0);
}

pub(crate) async fn an_abort_leaves_what_is_claimed(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let mine = those(&places(1), &granted(&*ledger, Step { claim: places(1), ..step(1, 1, 1) }).await);
    // some of another chunk may have been taken
    let maybe = those(&places(2), &granted(&*ledger, Step { claim: places(2), ..step(2, 1, 2) }).await);
    granted(&*ledger, Step { done: all(&maybe, &Outcome::Retry { maybe: true }), ..step(2, 1, 2) }).await;
    let [berlin, paris] = zones();
    let one = ledger.abort(&key(), Some(&[berlin])).await.unwrap();
    let line = check(&*ledger).await;
    let reasons = |line: &night_ledger::Line, reason: Reason| line.reasons[usize::from(reason.code())];
    assert_eq!(reasons(&line, Reason::Operator) + reasons(&line, Reason::NoAnswer), one);
    assert!(one > 25 && line.open > 30, "{line:?}");
    let other = ledger.abort(&key(), Some(&[paris])).await.unwrap();
    assert_eq!(ledger.abort(&key(), None).await.unwrap(), 0);
    let line = check(&*ledger).await;
    assert_eq!((line.open, reasons(&line, Reason::NoAnswer)), (mine.len() as u64, maybe.len() as u64));
    assert_eq!(one + other + mine.len() as u64, u64::from(USERS) - 6);
    // who was at it finishes
    let done = all(&mine, &Outcome::Delivered);
    let answer = granted(&*ledger, Step { done, claim: places(3), ..step(1, 1, 1) }).await;
    assert!(answer.iter().all(Option::is_none));
    assert_eq!(check(&*ledger).await.delivered, mine.len() as u64);
}

pub(crate) async fn what_was_given_up_opens_again_where_it_is_booked(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let all_places = places(1);
    let mine =
        those(&all_places, &granted(&*ledger, Step { claim: all_places.clone(), ..step(1, 1, 1) }).await);
    let mut done = all(&mine, &Outcome::Moved { channel: channels()[1].clone() });
    done[0].outcome = Outcome::Delivered;
    done[1].outcome = Outcome::Closed(Reason::Refused);
    granted(&*ledger, Step { done, ..step(1, 1, 1) }).await;
    let child = Step { channel: channels()[1].clone(), ..step(1, 2, 1) };
    granted(&*ledger, Step { claim: mine.clone(), ..child.clone() }).await;
    let given_up = all(&mine[2..], &Outcome::Closed(Reason::Attempts));
    granted(&*ledger, Step { done: given_up, ..child.clone() }).await;
    let dead = mine.len() as u64 - 2;
    assert_eq!(check(&*ledger).await.reasons[usize::from(Reason::Attempts.code())], dead);

    let asked: Vec<u32> = (0..USERS).rev().chain([7, USERS, u32::MAX]).collect();
    assert_eq!(ledger.reopen(&key(), &asked).await.unwrap(), dead);
    assert_eq!(ledger.reopen(&key(), &asked).await.unwrap(), 0);
    assert_eq!(ledger.reopen(&key(), &[]).await.unwrap(), 0);
    let line = check(&*ledger).await;
    assert_eq!((line.reasons[usize::from(Reason::Attempts.code())], line.delivered), (0, 1));
    let now = claims(&*ledger).await;
    assert!(mine[2..].iter().all(|(position, _)| now[*position as usize].state() == State::Free(1)));
    let replay = Step { batch: domain::BatchId(9), attempt: 1, ..child.clone() };
    let places = mine[2..].to_vec();
    granted(&*ledger, Step { claim: places.clone(), ..replay.clone() }).await;
    granted(&*ledger, Step { done: all(&places, &Outcome::Closed(Reason::Attempts)), ..replay }).await;
    let on_second = ledger.sums(&night()).await.unwrap();
    let second = on_second.lines.iter().filter(|((_, _, name), _)| *name == channels()[1]);
    assert_eq!(second.map(|(_, line)| line.reasons[usize::from(Reason::Attempts.code())]).sum::<u64>(), dead);

    ledger.close(&key(), USERS).await.unwrap();
    assert_eq!(ledger.reopen(&key(), &asked).await.unwrap(), 0, "the night is over");
    assert_eq!(check(&*ledger).await.open, 0);
    let why = ledger.why(&night(), sample().due[mine[2].0 as usize].uid).await.unwrap().unwrap();
    assert_eq!(why.claim.state(), State::Closed(Reason::Attempts));
}
