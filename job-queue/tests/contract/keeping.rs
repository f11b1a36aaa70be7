//! What survives, and dead letters.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta};
use job_queue::{DeadId, DeadLetter, DeadReason};

use crate::engine::{Engine, STEPS, batch, batches, channel, drain, id, next, told, until};

pub(crate) async fn all_but_the_acknowledged_survives_a_restart(engine: &mut dyn Engine) {
    let channel = channel();
    let letter = letter("kept");
    {
        let queue = engine.queue();
        queue.publish(&batches(&channel, 0..6)).await.unwrap();
        queue.delay(&batch(&channel, 6), STEPS[1]).await.unwrap();
        queue.delay(&batch(&channel, 7), STEPS[2]).await.unwrap();
        queue.bury(letter.clone()).await.unwrap();
        let mut consumer = queue.consume(&channel, 4).await.unwrap();
        assert_eq!(drain(&mut consumer, 2).await, BTreeSet::from([0, 1]));
        let _held = (next(&mut consumer).await, next(&mut consumer).await);
    }
    engine.restart().await;

    let queue = engine.queue();
    let depth = until(&*queue, &channel, |d| d.ready == 5).await;
    assert_eq!((depth.delayed, depth.dead), (1, 1));
    assert!(told(depth.unacked, 0) && told(depth.users, 18), "{depth:?}");
    let mut consumer = queue.consume(&channel, 1).await.unwrap();
    let first = next(&mut consumer).await;
    // which of those that were out comes first, a broker that redelivers some while others are out cannot promise
    assert!(first.redelivered && (2..6).contains(&id(&first)), "{}", id(&first));
    drop(first);
    assert_eq!(drain(&mut consumer, 5).await, BTreeSet::from([2, 3, 4, 5, 6]));
    let dead = queue.dead(None, 10).await.unwrap();
    assert_eq!(dead.into_iter().map(|(_, letter)| letter).collect::<Vec<_>>(), [letter]);

    drop((queue, consumer));
    engine.restart().await;
    let queue = engine.queue();
    let depth = until(&*queue, &channel, |d| d.ready == 0).await;
    assert_eq!((depth.delayed, depth.dead), (1, 1));
    assert!(told(depth.users, 3), "{depth:?}");
    queue.publish(&batches(&channel, 8..9)).await.unwrap();
    let mut consumer = queue.consume(&channel, 1).await.unwrap();
    assert_eq!(drain(&mut consumer, 1).await, BTreeSet::from([8]));
}

pub(crate) async fn dead_letters_are_listed_oldest_first(engine: &dyn Engine) {
    let queue = engine.queue();
    assert_eq!(queue.dead(None, 10).await.unwrap(), []);
    for n in 0..5 {
        queue.bury(letter(&n.to_string())).await.unwrap();
    }
    let mut elsewhere = letter("5");
    elsewhere.channel = "webhook".parse().unwrap();
    queue.bury(elsewhere.clone()).await.unwrap();

    let (mut after, mut seen) = (None, vec![]);
    loop {
        let page = queue.dead(after, 4).await.unwrap();
        let Some((last, _)) = page.last() else { break };
        assert!(page.len() <= 4 && after < Some(*last));
        after = Some(*last);
        seen.extend(page.into_iter().map(|(_, letter)| letter));
    }
    let expected: Vec<_> = (0..5).map(|n: u8| letter(&n.to_string())).chain([elsewhere]).collect();
    assert_eq!(seen, expected);
    // an engine with one queue for the dead letters counts those of the other channel too
    let depth = until(&*queue, &channel(), |d| [5, 6].contains(&d.dead)).await;
    assert!(depth.ready == 0 && told(depth.users, 0), "{depth:?}");
}

pub(crate) async fn old_dead_letters_are_forgotten(engine: &mut dyn Engine) {
    let at = letter("").at;
    let old = |seconds| DeadLetter { at: at + TimeDelta::seconds(seconds), ..letter(&seconds.to_string()) };
    let mut elsewhere = old(2);
    elsewhere.channel = "webhook".parse().unwrap();
    {
        let queue = engine.queue();
        assert_eq!(queue.forget_dead(at).await.unwrap(), 0);
        for letter in [old(0), old(1), elsewhere, old(3), old(4)] {
            queue.bury(letter).await.unwrap();
        }
        // the one that was given up at that very moment stays
        assert_eq!(queue.forget_dead(at + TimeDelta::seconds(3)).await.unwrap(), 3);
        until(&*queue, &channel(), |d| d.dead == 2).await;
    }
    engine.restart().await;
    let queue = engine.queue();
    until(&*queue, &channel(), |d| d.dead == 2).await;
    let kept = queue.dead(None, 10).await.unwrap();
    assert_eq!(kept.into_iter().map(|(_, letter)| letter).collect::<Vec<_>>(), [old(3), old(4)]);
}

pub(crate) async fn dead_letters_are_taken_off_once(engine: &dyn Engine) {
    let queue = engine.queue();
    for n in 0..6 {
        queue.bury(letter(&n.to_string())).await.unwrap();
    }
    assert_eq!(queue.take_dead(&[]).await.unwrap(), 0);
    let listed = queue.dead(None, 10).await.unwrap();
    let ids: Vec<_> = listed.iter().map(|(id, _)| *id).collect();
    assert_eq!(queue.take_dead(&[ids[4], ids[1], DeadId(u64::MAX), ids[1]]).await.unwrap(), 2);
    assert_eq!(queue.take_dead(&[ids[1]]).await.unwrap(), 0);
    until(&*queue, &channel(), |d| d.dead == 4).await;
    // the others keep their ids and their order
    let kept: Vec<_> = listed.into_iter().filter(|(id, _)| *id != ids[1] && *id != ids[4]).collect();
    assert_eq!(queue.dead(None, 10).await.unwrap(), kept);
}

fn letter(detail: &str) -> DeadLetter {
    let at = DateTime::from_timestamp_millis(1_780_862_400_123).unwrap();
    DeadLetter::new(channel(), DeadReason::Malformed, detail, at, b"{\"uid\":".to_vec())
}
