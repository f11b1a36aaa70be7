//! What survives, and dead letters.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta};
use job_queue::{DeadLetter, DeadReason};

use crate::engine::{Engine, STEPS, batch, batches, channel, drain, id, next, until};

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
    assert_eq!((depth.unacked, depth.delayed, depth.dead, depth.users), (0, 1, 1, 18));
    let mut consumer = queue.consume(&channel, 1).await.unwrap();
    let first = next(&mut consumer).await;
    assert_eq!((id(&first), first.redelivered), (2, true));
    drop(first);
    assert_eq!(drain(&mut consumer, 5).await, BTreeSet::from([2, 3, 4, 5, 6]));
    let dead = queue.dead(None, 10).await.unwrap();
    assert_eq!(dead.into_iter().map(|(_, letter)| letter).collect::<Vec<_>>(), [letter]);

    drop((queue, consumer));
    engine.restart().await;
    let queue = engine.queue();
    let depth = until(&*queue, &channel, |d| d.ready == 0).await;
    assert_eq!((depth.delayed, depth.dead, depth.users), (1, 1, 3));
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
    let depth = until(&*queue, &channel(), |d| d.dead == 5).await;
    assert_eq!((depth.ready, depth.users), (0, 0));
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

fn letter(detail: &str) -> DeadLetter {
    let at = DateTime::from_timestamp_millis(1_780_862_400_123).unwrap();
    DeadLetter::new(channel(), DeadReason::Malformed, detail, at, b"{\"uid\":".to_vec())
}
