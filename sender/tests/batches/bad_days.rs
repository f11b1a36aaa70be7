//! What is interrupted, late, poisoned or refused.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use job_queue::{DeadReason, JobQueue, encoding};
use night_ledger::{Class, Reason};
use plumbing::redb::{TableDefinition, WriteTransaction};
use sender::{
    Ended,
    channel::{Fault, Quota},
};
use tokio_util::sync::CancellationToken;

use crate::{
    LATER,
    rig::{self, POISON, Provider, Rig, at, settings, stub, user},
};

#[tokio::test]
async fn a_child_that_was_recorded_but_not_published_comes_from_the_redelivered_parent() {
    let provider = Provider::new(|seen, times| if seen.uid <= 5 && times == 1 { Err(LATER) } else { Ok(()) });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=30).map(user).collect(), |_| 5_000).await;
    rig.cut.store(true, Ordering::SeqCst);
    rig.work(&batch).await.unwrap_err();
    assert_eq!(rig.sums().await.open, 5);
    rig.cut.store(false, Ordering::SeqCst);
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
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
    rig.work(&batch).await.unwrap_err();
    rig.cut.store(false, Ordering::SeqCst);
    // the channel rests when the parent comes again, so it goes unchanged into the ladder, as a new message
    rig.parts.lines[&stub()].limits.throttle(Duration::from_millis(500));
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Delayed);
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
    let ended = sender::work(&rig.parts, line, &encoding::encode(&batch), &stop).await.unwrap();
    assert_eq!((ended, provider.count()), (Ended::Stopped, 10));
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
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
    rig.work(&first).await.unwrap();
    rig.parts.clock.move_to(at("2026-06-07T22:00:00Z"));
    let late = job_queue::Batch { entries: batch.entries[10..].to_vec(), id: domain::BatchId(7), ..batch };
    assert_eq!(rig.work(&late).await.unwrap(), Ended::Done);
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
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
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
            if depth.dead == 1 && depth.ready + depth.unacked.unwrap() + depth.delayed == 0 {
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
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Buried);
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
    rig.work(&batch).await.unwrap();
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
    rig.work(&batch).await.unwrap();
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
    rig.work(&batch).await.unwrap_err();
    rig.cut.store(false, Ordering::SeqCst);
    rig.work(&batch).await.unwrap();
    // in the ladder, or between two of its steps
    let waiting = async || {
        let depth = rig.raw.depth(&stub()).await.unwrap();
        depth.ready + depth.delayed
    };
    assert_eq!(waiting().await, 1);
    // and once it is in the queue, coming again adds nothing
    rig.work(&batch).await.unwrap();
    assert_eq!(waiting().await, 1);
    assert_eq!(provider.count(), 5);
}

#[tokio::test]
async fn past_its_deadline_a_batch_of_a_resting_channel_expires_at_once() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=5).map(user).collect(), |_| 5_000).await;
    rig.parts.lines[&stub()].limits.throttle(Duration::from_secs(600));
    rig.parts.clock.move_to(at("2026-06-07T22:00:00Z"));
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
    let sums = rig.sums().await;
    assert_eq!((sums.reasons[usize::from(Reason::Deadline.code())], sums.open), (5, 0));
}

#[tokio::test]
async fn one_push_that_is_answered_as_if_the_channel_took_nothing_does_not_stop_the_others() {
    let nothing = Fault::Stopped { detail: "status 404".into() };
    let provider =
        Provider::new(move |seen, _| if seen.uid % 20 == 1 { Err(nothing.clone()) } else { Ok(()) });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((200..300).map(user).collect(), |_| 5_000).await;
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.class(Class::Rejected), sums.open), (95, 5, 0));

    // a channel that takes nothing from the start rests instead, and refuses nobody
    let provider = Provider::new(|_, _| Err(Fault::Stopped { detail: "status 401".into() }));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((200..300).map(user).collect(), |_| 5_000).await;
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Delayed);
    assert_eq!(rig.sums().await.open, 100);
    assert!(rig.parts.lines[&stub()].limits.paused().is_some());
}

/// One page of steps that cannot be read ends the pushes of its users, and of nobody else.
#[tokio::test]
async fn steps_that_cannot_be_read_end_their_users_pushes_alone() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    // the pages of 32 to 63 and of 64 to 95
    let batch = rig.sealed((60..70).map(user).collect(), |_| 5_000).await;
    let damage = |to: &WriteTransaction| {
        let pages: TableDefinition<(u32, u32, u64), &[u8]> = TableDefinition::new("steps.pages");
        to.open_table(pages)?.insert((1, 20_260_607, 1), &b"rubbish"[..])?;
        Ok(())
    };
    rig.file.write(damage).await.unwrap();
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
    let sums = rig.sums().await;
    let without_text = sums.reasons[usize::from(Reason::Text.code())];
    assert_eq!((sums.delivered, without_text, sums.open, provider.count()), (6, 4, 0, 6));
}
