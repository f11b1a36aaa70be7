//! Batches worked over real embedded stores, against a provider that answers as it is told.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails here")]

mod away;
mod bad_days;
mod brakes;
mod devices;
mod ledger;
mod reach;
mod recorded;
mod rig;
mod set_apart;

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU32,
    time::Duration,
};

use directory::{Change, NewUser};
use domain::Uid;
use job_queue::{DeadReason, encoding};
use night_ledger::{Class, Reason, State};
use rig::{Provider, Rig, at, device, other, settings, stub, user};
use sender::{
    Ended,
    channel::{Fault, Quota},
};

const LATER: Fault = Fault::Retry { after: None, maybe: false };

#[tokio::test]
async fn everybody_gets_their_own_number_once() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let mut users: Vec<NewUser> = (1..=40).map(user).collect();
    users[0].devices = Some(vec![device("stub", 1, 0), device("stub", 1, 1), device("other", 1, 0)]);
    let batch = rig.sealed(users, |u| if u == 40 { 0 } else { u32::try_from(u).unwrap() * 100 }).await;
    let out = NewUser { consent: Some(false), ..user(39) };
    let bare = NewUser { devices: Some(Vec::new()), ..user(38) };
    let changes = vec![Change::Put(out), Change::Put(bare), Change::Delete(Uid(37))];
    rig.parts.directory.apply(changes, at("2026-06-07T19:55:00Z")).await.unwrap();
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
    let seen = rig.parts.lines[&stub()].name.clone();
    assert_eq!(seen, stub());
    let pushes = provider.seen.lock().unwrap().clone();
    assert_eq!(pushes.len(), 36 + 1, "the first user has two devices on the channel");
    let texts: BTreeMap<u64, String> = pushes.iter().map(|s| (s.uid, s.body.clone())).collect();
    assert_eq!(texts[&7], "700 steps, N7");
    assert!(
        pushes
            .iter()
            .all(|s| s.identity == format!("nightly.20260607.{}", s.uid) && s.address.starts_with("stub"))
    );
    let sums = rig.sums().await;
    assert_eq!((sums.due, sums.delivered, sums.class(Class::Suppressed), sums.open), (40, 36, 4, 0));
    for reason in [Reason::NoSteps, Reason::OptedOut, Reason::NoDevice, Reason::Gone] {
        assert_eq!(sums.reasons[usize::from(reason.code())], 1, "{reason:?}");
    }
    // delivered again by the broker: nobody is pushed to again
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
    assert_eq!(provider.count(), 37);
}

#[tokio::test]
async fn only_those_that_failed_are_tried_again_and_the_last_attempt_ends_in_a_dead_letter() {
    let provider = Provider::new(|seen, times| match (seen.uid % 10, times) {
        (0, _) => Err(LATER),
        (1 | 2, 1) => Err(LATER),
        _ => Ok(()),
    });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=50).map(user).collect(), |_| 5_000).await;
    rig.work(&batch).await.unwrap();
    rig.drain().await;
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.class(Class::Dead), sums.open, sums.duplicates), (45, 5, 0, 0));
    assert_eq!(provider.count(), 35 + 10 * 2 + 5 * 3);
    let identities: BTreeSet<_> = provider.seen.lock().unwrap().iter().map(|s| s.identity.clone()).collect();
    assert_eq!(identities.len(), 50, "every try of a push carries the same identity");
    let dead = rig.dead().await;
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].reason, DeadReason::Attempts);
    let given_up = encoding::decode(&dead[0].bytes).unwrap();
    assert_eq!(given_up.entries.iter().map(|e| e.uid.0).collect::<Vec<_>>(), [10, 20, 30, 40, 50]);
    assert_eq!(given_up.attempt, 3);
}

#[tokio::test]
async fn no_answer_is_tried_once_more_and_then_final() {
    let provider = Provider::new(|seen, times| match (seen.uid, times) {
        (1, _) => Err(Fault::NoAnswer),
        (2, 1) => Err(Fault::NoAnswer),
        (3, _) => Err(Fault::Retry { after: None, maybe: true }),
        _ => Ok(()),
    });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=4).map(user).collect(), |_| 5_000).await;
    rig.work(&batch).await.unwrap();
    rig.drain().await;
    let tries = |uid| provider.seen.lock().unwrap().iter().filter(|s| s.uid == uid).count();
    assert_eq!([1, 2, 3, 4].map(tries), [2, 2, 3, 1]);
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.class(Class::Uncertain), sums.class(Class::Dead)), (2, 2, 0));
    assert_eq!(sums.duplicates, 3, "pushed again although they may have been taken");
}

#[tokio::test]
async fn a_throttled_channel_slows_as_a_whole_and_uses_up_no_attempt() {
    let provider = Provider::new(|_, times| {
        if times == 1 { Err(Fault::Throttled { after: Some(Duration::from_millis(15)) }) } else { Ok(()) }
    });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=60).map(user).collect(), |_| 5_000).await;
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Delayed);
    assert!(provider.count() <= 10, "the rest of the batch was not tried");
    rig.drain().await;
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.open, sums.duplicates), (60, 0, 0));
    let positions: Vec<u32> = (0..60).collect();
    let claims = rig.parts.ledger.claims(&rig.key(), &positions).await.unwrap();
    assert!(claims.iter().all(|h| h.claim.state() == State::Delivered(1)));
    assert!(rig.dead().await.is_empty());
}

#[tokio::test]
async fn what_finds_no_quota_in_time_waits_in_the_ladder() {
    let provider = Provider::new(|_, _| Ok(()));
    let quota = Quota { per_second: NonZeroU32::new(400), ..Quota::default() };
    let rig = Rig::new(&provider, settings(), &quota).await;
    let batch = rig.sealed((1..=60).map(user).collect(), |_| 5_000).await;
    rig.work(&batch).await.unwrap();
    rig.drain().await;
    assert_eq!(rig.sums().await.delivered, 60);
    assert_eq!(provider.count(), 60);
}

#[tokio::test]
async fn a_device_that_is_gone_is_dropped_and_the_next_channel_takes_over() {
    let provider = Provider::new(|seen, _| {
        let gone = Fault::DeviceGone { since: at("2026-06-07T20:00:00Z") };
        if seen.address.starts_with("stub") && seen.uid != 3 { Err(gone) } else { Ok(()) }
    });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let both =
        |uid| NewUser { devices: Some(vec![device("stub", uid, 0), device("other", uid, 0)]), ..user(uid) };
    let batch = rig.sealed(vec![both(1), user(2), both(3)], |_| 5_000).await;
    rig.work(&batch).await.unwrap();
    rig.drain().await;
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.class(Class::Rejected), sums.open), (2, 1, 0));
    let lines = rig.parts.ledger.sums(&rig.key().night).await.unwrap().lines;
    let on =
        |channel| lines.iter().filter(|((.., c), _)| *c == channel).map(|(_, l)| (l.due, l.delivered)).next();
    assert_eq!((on(stub()), on(other())), (Some((2, 1)), Some((1, 1))));
    let users = rig.parts.directory.users(&[Uid(1), Uid(2), Uid(3)]).await.unwrap();
    let left: Vec<_> = users.iter().map(|u| u.as_ref().unwrap().devices.len()).collect();
    assert_eq!(left, [1, 0, 2]);
}
