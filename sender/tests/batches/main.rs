//! Batches worked over real embedded stores, against a provider that answers as it is told.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails here")]

mod rig;

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU32,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use directory::{Change, NewUser};
use domain::Uid;
use job_queue::{DeadReason, JobQueue, encoding};
use night_ledger::{Class, Reason, State};
use rig::{POISON, Provider, Rig, at, device, other, settings, stub, user};
use sender::{
    Ended,
    channel::{Fault, Quota},
};
use tokio_util::sync::CancellationToken;

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
    assert_eq!(rig.work(&batch, false).await.unwrap(), Ended::Done);
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
    assert_eq!(rig.work(&batch, true).await.unwrap(), Ended::Done);
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
    rig.work(&batch, false).await.unwrap();
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
    rig.work(&batch, false).await.unwrap();
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
    assert_eq!(rig.work(&batch, false).await.unwrap(), Ended::Delayed);
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
    rig.work(&batch, false).await.unwrap();
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
    rig.work(&batch, false).await.unwrap();
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

#[tokio::test]
async fn a_child_that_was_recorded_but_not_published_comes_from_the_redelivered_parent() {
    let provider = Provider::new(|seen, times| if seen.uid <= 5 && times == 1 { Err(LATER) } else { Ok(()) });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=30).map(user).collect(), |_| 5_000).await;
    rig.cut.store(true, Ordering::SeqCst);
    rig.work(&batch, false).await.unwrap_err();
    assert_eq!(rig.sums().await.open, 5);
    rig.cut.store(false, Ordering::SeqCst);
    assert_eq!(rig.work(&batch, true).await.unwrap(), Ended::Done);
    rig.drain().await;
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.open, sums.duplicates), (30, 0, 0));
    assert_eq!(provider.count(), 35);
}

#[tokio::test]
async fn a_child_is_not_lost_when_the_redelivered_parent_has_to_wait() {
    let provider = Provider::new(|seen, times| if seen.uid <= 5 && times == 1 { Err(LATER) } else { Ok(()) });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=30).map(user).collect(), |_| 5_000).await;
    rig.cut.store(true, Ordering::SeqCst);
    rig.work(&batch, false).await.unwrap_err();
    rig.cut.store(false, Ordering::SeqCst);
    // the channel rests when the parent comes again, so it goes unchanged into the ladder, as a new message
    rig.parts.lines[&stub()].limits.throttle(Duration::from_millis(30));
    assert_eq!(rig.work(&batch, true).await.unwrap(), Ended::Delayed);
    rig.drain().await;
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.open, provider.count()), (30, 0, 35));
}

#[tokio::test]
async fn a_stop_ends_the_work_between_two_chunks_and_nothing_is_pushed_twice() {
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let provider = Provider::new(move |seen, _| {
        if seen.uid == 5 {
            stopping.cancel();
        }
        Ok(())
    });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=60).map(user).collect(), |_| 5_000).await;
    let line = &rig.parts.lines[&stub()];
    let ended = sender::work(&rig.parts, line, &encoding::encode(&batch), false, &stop).await.unwrap();
    assert_eq!((ended, provider.count()), (Ended::Stopped, 10));
    assert_eq!(rig.work(&batch, true).await.unwrap(), Ended::Done);
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.duplicates, provider.count()), (60, 0, 60));
}

#[tokio::test]
async fn past_its_deadline_a_batch_expires_and_a_retry_is_not_scheduled_beyond_it() {
    let provider =
        Provider::new(|_, _| Err(Fault::Retry { after: Some(Duration::from_secs(7_200)), maybe: false }));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=20).map(user).collect(), |_| 5_000).await;
    let first = job_queue::Batch { entries: batch.entries[..10].to_vec(), ..batch.clone() };
    rig.work(&first, false).await.unwrap();
    rig.parts.clock.move_to(at("2026-06-07T22:00:00Z"));
    let late = job_queue::Batch { entries: batch.entries[10..].to_vec(), id: domain::BatchId(7), ..batch };
    assert_eq!(rig.work(&late, false).await.unwrap(), Ended::Done);
    assert_eq!(provider.count(), 10, "nobody is pushed to after the deadline");
    let sums = rig.sums().await;
    assert_eq!((sums.reasons[usize::from(Reason::Deadline.code())], sums.open), (20, 0));
}

#[tokio::test]
async fn what_is_no_batch_is_buried_with_its_reason() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed(vec![user(1)], |_| 5_000).await;
    let stranger = job_queue::Batch { campaign: "weekly".parse().unwrap(), ..batch.clone() };
    let newer = {
        let mut bytes = encoding::encode(&batch);
        bytes[0] = 200;
        bytes
    };
    let bodies = [
        Vec::new(),
        b"5".to_vec(),
        b"{\"uid\":".to_vec(),
        vec![b' '; 2 << 20],
        newer,
        encoding::encode(&stranger),
    ];
    for body in &bodies {
        rig.raw.publish_raw(&stub(), body.clone()).await.unwrap();
    }
    rig.raw.publish(std::slice::from_ref(&batch)).await.unwrap();
    rig.drain().await;
    let dead = rig.dead().await;
    assert_eq!(dead.iter().map(|l| l.bytes.clone()).collect::<Vec<_>>(), bodies);
    assert!(dead[..5].iter().all(|l| l.reason == DeadReason::Malformed && !l.detail.is_empty()));
    assert_eq!(dead[5].reason, DeadReason::UnknownCampaign);
    assert_eq!(rig.sums().await.delivered, 1, "a good one among them is worked");
}

#[tokio::test]
async fn a_user_whose_push_panics_takes_nobody_along() {
    let provider = Provider::new(|seen, _| {
        assert!(seen.uid != 13, "on purpose");
        Ok(())
    });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=30).map(user).collect(), |_| 5_000).await;
    assert_eq!(rig.work(&batch, false).await.unwrap(), Ended::Done);
    rig.drain().await;
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.class(Class::Uncertain), sums.open), (29, 1, 0));
    assert_eq!(provider.count(), 29 + 3);
}

#[tokio::test]
async fn a_message_whose_work_panics_is_buried_and_the_others_go_on() {
    let provider = Provider::new(|seen, _| if seen.uid == POISON.0 { Err(LATER) } else { Ok(()) });
    let mut quick = settings();
    quick.lease = plumbing::Span::millis(1);
    let rig = Rig::new(&provider, quick, &Quota::default()).await;
    let batch = rig.sealed((60..80).map(user).collect(), |_| 5_000).await;
    let halves = [0, 10].map(|from: u8| job_queue::Batch {
        entries: batch.entries[from.into()..usize::from(from) + 10].to_vec(),
        id: domain::BatchId(from.into()),
        ..batch.clone()
    });
    rig.raw.publish(&halves).await.unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(sender::run(Arc::clone(&rig.parts), stop.clone()));
    let buried = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(20));
        loop {
            ticks.tick().await;
            let depth = rig.raw.depth(&stub()).await.unwrap();
            if depth.dead == 1 && depth.ready + depth.unacked + depth.delayed == 0 {
                break;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), buried).await.unwrap();
    stop.cancel();
    running.await.unwrap();
    assert_eq!(rig.dead().await[0].reason, DeadReason::Panicked);
    assert_eq!((rig.sums().await.delivered, provider.count()), (19, 20));
}

#[tokio::test]
async fn a_batch_whose_seal_is_gone_is_buried() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed(vec![user(1)], |_| 5_000).await;
    rig.parts.ledger.forget(rig::day().next()).await.unwrap();
    assert_eq!(rig.work(&batch, false).await.unwrap(), Ended::Buried);
    assert_eq!(rig.dead().await[0].reason, DeadReason::UnknownSeal);
    assert_eq!(provider.count(), 0);
}

#[tokio::test]
async fn a_burst_refused_for_quota_slows_the_channel_once() {
    let provider =
        Provider::new(|_, times| if times == 1 { Err(Fault::Throttled { after: None }) } else { Ok(()) });
    let mut patient = settings();
    patient.backoff = plumbing::Span::millis(200);
    patient.longest_backoff = plumbing::Span::seconds(1_000);
    let rig = Rig::new(&provider, patient, &Quota::default()).await;
    let batch = rig.sealed((1..=10).map(user).collect(), |_| 5_000).await;
    rig.work(&batch, false).await.unwrap();
    let pause = rig.parts.lines[&stub()].limits.paused().unwrap();
    assert!(pause <= Duration::from_millis(240), "ten refusals of one chunk are one: {pause:?}");
}

#[tokio::test]
async fn what_may_have_been_taken_is_uncertain_when_its_time_is_up() {
    let provider = Provider::new(|seen, _| if seen.uid <= 10 { Err(Fault::NoAnswer) } else { Err(LATER) });
    let mut slow = settings();
    slow.backoff = plumbing::Span::seconds(1);
    slow.longest_backoff = plumbing::Span::seconds(1);
    let rig = Rig::new(&provider, slow, &Quota::default()).await;
    let batch = rig.sealed((1..=20).map(user).collect(), |_| 5_000).await;
    rig.parts.clock.move_to(at("2026-06-07T21:59:59.500Z"));
    rig.work(&batch, false).await.unwrap();
    let sums = rig.sums().await;
    assert_eq!((sums.class(Class::Uncertain), sums.class(Class::Expired), sums.open), (10, 10, 0));
}

#[tokio::test]
async fn a_retry_after_is_kept_when_the_parent_comes_again() {
    let hour = Fault::Retry { after: Some(Duration::from_secs(3_600)), maybe: false };
    let provider = Provider::new(move |seen, _| if seen.uid == 1 { Err(hour.clone()) } else { Ok(()) });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=5).map(user).collect(), |_| 5_000).await;
    rig.cut.store(true, Ordering::SeqCst);
    rig.work(&batch, false).await.unwrap_err();
    rig.cut.store(false, Ordering::SeqCst);
    rig.work(&batch, true).await.unwrap();
    assert_eq!(rig.raw.depth(&stub()).await.unwrap().delayed, 1);
    // and once it is in the queue, coming again adds nothing
    rig.work(&batch, true).await.unwrap();
    assert_eq!(rig.raw.depth(&stub()).await.unwrap().delayed, 1);
    assert_eq!(provider.count(), 5);
}

#[tokio::test]
async fn past_its_deadline_a_batch_of_a_resting_channel_expires_at_once() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=5).map(user).collect(), |_| 5_000).await;
    rig.parts.lines[&stub()].limits.throttle(Duration::from_secs(600));
    rig.parts.clock.move_to(at("2026-06-07T22:00:00Z"));
    assert_eq!(rig.work(&batch, false).await.unwrap(), Ended::Done);
    let sums = rig.sums().await;
    assert_eq!((sums.reasons[usize::from(Reason::Deadline.code())], sums.open), (5, 0));
}
