//! Batches of which some are set apart: however often the rest has to wait, nobody is in the queue more often for it.

use std::{
    num::NonZeroU32,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use directory::NewUser;
use job_queue::{Batch, Delivery, JobQueue, encoding};
use night_ledger::{Brake, NightLedger};
use plumbing::{Redis, RedisSettings};
use sender::{
    Ended,
    channel::{Fault, Quota},
};
use step_store::RedisSteps;
use tokio_util::sync::CancellationToken;

use crate::rig::{Provider, Rig, settings, stub, user};

/// At five a second a batch of 300 is cut into four, and each of them finds no quota many times.
#[tokio::test]
async fn a_batch_that_is_split_and_waits_does_not_grow() {
    let provider = Provider::new(|_, _| Ok(()));
    let quota = Quota { per_second: NonZeroU32::new(5), ..Quota::default() };
    let rig = Rig::new(&provider, settings(), &quota).await;
    let batch = rig.sealed((200..500).map(user).collect(), |_| 5_000).await;
    rig.raw.publish(&[batch]).await.unwrap();
    let ended = passes(&rig, 20, 300).await;
    assert!(ended.contains(&Ended::Delayed));
    assert_eq!(rig.sums().await.duplicates, 0);
}

/// A zone is paused, and the channel takes nothing from the others.
#[tokio::test]
async fn a_batch_whose_paused_users_left_it_does_not_grow() {
    let nothing = Fault::Throttled { after: Some(Duration::from_millis(1)) };
    let provider = Provider::new(move |_, _| Err(nothing.clone()));
    let (rig, batch) = half_paused(&provider).await;
    rig.raw.publish(&[batch]).await.unwrap();
    passes(&rig, 6, 40).await;
    assert!(provider.count() > 0);
    assert!(provider.seen.lock().unwrap().iter().all(|seen| seen.uid % 2 == 1), "nobody who is paused");
}

/// A sender that stops leaves the rest in the queue, not the whole.
#[tokio::test]
async fn a_batch_whose_paused_users_left_it_does_not_come_again_whole_after_a_stop() {
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let provider = Provider::new(move |_, _| {
        stopping.cancel();
        Ok(())
    });
    let (rig, batch) = half_paused(&provider).await;
    let line = &rig.parts.lines[&stub()];
    let ended = sender::work(&rig.parts, line, &encoding::encode(&batch), &stop).await.unwrap();
    assert_eq!((ended, provider.count()), (Ended::Delayed, 10), "both halves are confirmed");
    let depth = rig.raw.depth(&stub()).await.unwrap();
    assert_eq!((depth.ready, depth.delayed, depth.users), (1, 1, Some(40)));
    passes(&rig, 1, 20).await;
    assert_eq!((rig.sums().await.delivered, provider.count()), (20, 20));
}

/// What was set apart and could not be published is published by the next try, which does not set it apart again.
#[tokio::test]
async fn who_is_published_from_the_record_is_not_set_apart_once_more() {
    let provider = Provider::new(|_, _| Ok(()));
    let (rig, batch) = half_paused(&provider).await;
    rig.cut.store(true, Ordering::SeqCst);
    rig.work(&batch).await.unwrap_err();
    rig.cut.store(false, Ordering::SeqCst);
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
    let depth = rig.raw.depth(&stub()).await.unwrap();
    assert_eq!((depth.ready + depth.delayed, depth.users), (1, Some(20)));
    assert_eq!((rig.sums().await.delivered, provider.count()), (20, 20));
}

/// A store that is away after some were set apart: the rest waits, and is not taken apart at every try.
#[tokio::test]
async fn a_batch_whose_paused_users_left_it_does_not_grow_while_a_store_is_away() {
    let provider = Provider::new(|_, _| Ok(()));
    let (mut rig, batch) = half_paused(&provider).await;
    let nowhere = RedisSettings::at(vec!["redis://127.0.0.1:1".to_owned()], "t");
    Arc::get_mut(&mut rig.parts).unwrap().steps = Arc::new(RedisSteps::new(Redis::new(&nowhere).unwrap()));
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Delayed);
    assert_eq!(rig.raw.depth(&stub()).await.unwrap().users, Some(40));
    // what has nothing set apart is an error as before, and stays whole
    let rest = Batch { entries: batch.entries.iter().filter(|e| e.zone == 0).copied().collect(), ..batch };
    rig.work(&rest).await.unwrap_err();
    assert_eq!((rig.raw.depth(&stub()).await.unwrap().users, provider.count()), (Some(40), 0));
}

/// Forty users, every second of them in a zone that is paused.
async fn half_paused(provider: &Provider) -> (Rig, Batch) {
    let rig = Rig::new(provider, settings(), &Quota::default()).await;
    let paris = "Europe/Paris".parse().unwrap();
    let users = (1..=40).map(|u| NewUser { zone: if u % 2 == 0 { paris } else { user(u).zone }, ..user(u) });
    let batch = rig.sealed(users.collect(), |_| 5_000).await;
    rig.ledger.set_brake(&rig.key().night, Some(paris), Some(Brake::Paused)).await.unwrap();
    (rig, batch)
}

/// Works on so many deliveries; after none of them there may be more users in the queue than `most`. Answers how they ended.
async fn passes(rig: &Rig, count: usize, most: u64) -> Vec<Ended> {
    let mut consumer = rig.raw.consume(&stub(), 1).await.unwrap();
    let mut ended = Vec::new();
    for pass in 0..count {
        let Delivery { bytes, acker, .. } = consumer.next().await.unwrap();
        let line = &rig.parts.lines[&stub()];
        ended.push(sender::work(&rig.parts, line, &bytes, &CancellationToken::new()).await.unwrap());
        acker.ack().await.unwrap();
        let users = rig.raw.depth(&stub()).await.unwrap().users.unwrap();
        assert!(users <= most, "{users} after pass {pass}");
    }
    ended
}
