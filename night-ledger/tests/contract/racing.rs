//! Many at once.

use std::sync::Arc;

use domain::BatchId;
use night_ledger::{NightLedger, Outcome, Reason, Step, Stepped};
use tokio::task::JoinSet;

use crate::{
    engine::Engine,
    rig::{CHUNK, USERS, all, check, claims, granted, key, places, places_at, sealed, step, those},
};

const BATCHES: u32 = USERS / CHUNK;

pub(crate) async fn one_of_many_owners_gets_a_batch(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    for batch in 0..BATCHES {
        let steps = (1..=8).map(|owner| Step { claim: places(batch), ..step(batch, 1, owner) });
        let answers = at_once(&ledger, steps).await;
        let done = answers.iter().filter(|answer| matches!(answer, Stepped::Done(_))).count();
        let held = answers.iter().filter(|answer| matches!(answer, Stepped::Held(_))).count();
        assert_eq!((done, held), (1, 7));
    }
    assert!(claims(&*ledger).await.iter().all(|claim| !claim.maybe()));
}

pub(crate) async fn twin_batches_share_their_users(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    // each batch overlaps with the next ones
    let reach = |n: u32| places_at(n * 8..n * 8 + 30);
    let steps =
        (0..8).map(|n| Step { batch: BatchId(n.into()), claim: reach(n), ..step(0, 1, 1 + u64::from(n)) });
    let answers = at_once(&ledger, steps).await;
    let mut got = vec![0u32; USERS as usize];
    for (n, answer) in (0..).zip(&answers) {
        let Stepped::Done(granted) = answer else { panic!("{answer:?}") };
        those(&reach(n), granted).iter().for_each(|(position, _)| got[*position as usize] += 1);
    }
    let open = claims(&*ledger).await.iter().take(86).filter(|claim| claim.open()).count();
    assert!(got.iter().all(|&times| times <= 1), "{got:?}");
    assert_eq!(got.iter().sum::<u32>() as usize, open);
}

pub(crate) async fn many_take_over_at_once_and_all_is_marked(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let claim = |owner| (0..BATCHES).map(move |batch| Step { claim: places(batch), ..step(batch, 1, owner) });
    at_once(&ledger, claim(1)).await;
    drop(ledger);
    // the second time the bytes do not tell any more that they were taken over
    for owner in 2..6 {
        engine.kill().await;
        let ledger = engine.ledger();
        // two for each batch, one of which has another id for the same users
        let twins = claim(owner + 10).map(|step| Step { batch: BatchId(step.batch.0 ^ 1), ..step });
        let answers = at_once(&ledger, claim(owner).chain(twins)).await;
        let mut got = vec![0u32; USERS as usize];
        for (n, answer) in (0..).zip(answers) {
            let Stepped::Done(granted) = answer else { panic!("{answer:?}") };
            assert!(granted.iter().flatten().all(|claim| claim.maybe()));
            those(&places(n % BATCHES), &granted).iter().for_each(|(at, _)| got[*at as usize] += 1);
        }
        let open = claims(&*ledger).await.into_iter().map(|claim| u32::from(claim.open()));
        assert_eq!(got, open.collect::<Vec<_>>(), "each has one owner");
        check(&*ledger).await;
    }
}

pub(crate) async fn a_seal_closes_while_senders_work(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let workers = work(&ledger);
    let closed = ledger.close(&key(), 50).await.unwrap();
    workers.join_all().await;
    let line = check(&*ledger).await;
    assert_eq!(line.open, 0);
    let counted = closed.missed + closed.never_worked + closed.expired + closed.uncertain;
    assert_eq!(counted + line.delivered + 6, u64::from(USERS));
    assert_eq!(line.reasons[usize::from(Reason::NoAnswer.code())], closed.uncertain);
}

pub(crate) async fn a_seal_is_aborted_while_senders_work(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let workers = work(&ledger);
    let mut aborted = ledger.abort(&key(), None).await.unwrap();
    workers.join_all().await;
    // what a sender set free after the sweep was over
    aborted += ledger.abort(&key(), None).await.unwrap();
    let line = check(&*ledger).await;
    assert_eq!((line.open, line.reasons[usize::from(Reason::Operator.code())]), (0, aborted));
    assert_eq!(aborted + line.delivered + 6, u64::from(USERS));
}

/// Works every batch by twos, twice over; who was alone is released.
fn work(ledger: &Arc<dyn NightLedger>) -> JoinSet<()> {
    let mut workers = JoinSet::new();
    for batch in 0..BATCHES {
        let ledger = Arc::clone(ledger);
        workers.spawn(async move {
            let mut done = Vec::new();
            let chunks = places(batch);
            for chunk in chunks.chunks(2).chain(chunks.chunks(2)) {
                let claims =
                    granted(&*ledger, Step { done, claim: chunk.to_vec(), ..step(batch, 1, 7) }).await;
                let mine = those(chunk, &claims);
                let outcome = if mine.len() == 1 { Outcome::Released } else { Outcome::Delivered };
                done = all(&mine, &outcome);
            }
            granted(&*ledger, Step { done, ..step(batch, 1, 7) }).await;
        });
    }
    workers
}

/// The answers to steps that are made at once, in their order.
async fn at_once(ledger: &Arc<dyn NightLedger>, steps: impl Iterator<Item = Step>) -> Vec<Stepped> {
    let tasks: Vec<_> = steps
        .map(|step| {
            let ledger = Arc::clone(ledger);
            tokio::spawn(async move { ledger.step(step).await.unwrap() })
        })
        .collect();
    let mut answers = Vec::with_capacity(tasks.len());
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}
