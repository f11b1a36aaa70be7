//! Random steps, kills, closings, aborts and replays.

use std::time::Duration;

use domain::Zone;
use night_ledger::{Done, Held, NightLedger, Outcome, Reason, State, Step, Stepped};
use proptest::prelude::*;

use crate::{
    engine::Engine,
    rig::{CHUNK, USERS, channels, check, key, night, places, sealed, step, zones},
};

/// One of the things that happen.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Batch, attempt, owner, an outcome for each place, whether to claim as well.
    Work(u32, u8, u64, Vec<u8>, bool),
    /// Batch, attempt, owner.
    GiveUp(u32, u8, u64),
    Kill,
    Close(u32),
    Abort(Option<usize>),
    Reopen(u32),
}

pub(crate) fn acts() -> impl Strategy<Value = Vec<Act>> {
    let outcomes = prop::collection::vec(0u8..8, CHUNK as usize);
    let act = prop_oneof![
        60 => (0..USERS / CHUNK, 1u8..4, 1u64..4, outcomes, any::<bool>()).prop_map(|(b, a, o, d, c)| Act::Work(b, a, o, d, c)),
        12 => (0..USERS / CHUNK, 1u8..4, 1u64..3).prop_map(|(b, a, o)| Act::GiveUp(b, a, o)),
        10 => Just(Act::Kill),
        1 => (0..=USERS).prop_map(Act::Close),
        1 => prop::option::of(0usize..2).prop_map(Act::Abort),
        6 => (0..USERS / CHUNK).prop_map(Act::Reopen),
    ];
    prop::collection::vec(act, 60..120)
}

/// Runs acts on engines side by side: the identity holds after each, the recount agrees, what is over stays over, and all
/// engines answer the same.
pub(crate) async fn run(engines: &mut [&mut dyn Engine], acts: &[Act]) {
    for engine in engines.iter() {
        sealed(&**engine).await;
    }
    let mut before = held(&*engines[0].ledger()).await;
    for act in acts {
        let mut answers = Vec::new();
        for engine in engines.iter_mut() {
            answers.push(perform(&mut **engine, act, &before).await);
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{act:?}: {answers:?}");
        let now = held(&*engines[0].ledger()).await;
        let sums = engines[0].ledger().sums(&night()).await.unwrap();
        for engine in engines.iter() {
            check(&*engine.ledger()).await;
            assert_eq!(held(&*engine.ledger()).await, now, "{act:?}");
            assert_eq!(engine.ledger().sums(&night()).await.unwrap(), sums, "{act:?}");
        }
        for (old, new) in before.iter().map(|held| held.claim).zip(now.iter().map(|held| held.claim)) {
            let replayed = matches!(act, Act::Reopen(_)) && old.state() == State::Closed(Reason::Attempts);
            assert!(old.open() || old == new || replayed, "{old:?} became {new:?}");
            assert!(!old.maybe() || new.maybe());
        }
        before = now;
    }
}

async fn perform(engine: &mut dyn Engine, act: &Act, before: &[Held]) -> String {
    let ledger = engine.ledger();
    match act {
        Act::Work(batch, attempt, owner, outcomes, claim) => {
            // a sender has the users of one channel in a batch; here the owner picks it
            let channel = &channels()[usize::from(*owner == 2)];
            let mut step = Step { channel: channel.clone(), ..step(*batch, *attempt, *owner) };
            step.batch = step.batch.child(*attempt, channel, []);
            let on = |p: u32| before[p as usize].moved.as_ref().unwrap_or(&channels()[0]) == channel;
            let places: Vec<(u32, Zone)> = places(*batch).into_iter().filter(|(p, _)| on(*p)).collect();
            let done = places.iter().zip(outcomes);
            step.done =
                done.map(|(&(position, zone), &o)| Done { position, zone, outcome: outcome(o) }).collect();
            step.claim = if *claim { places } else { Vec::new() };
            match ledger.step(step).await.unwrap() {
                Stepped::Held(_) => "held".into(),
                other => format!("{other:?}"),
            }
        }
        Act::GiveUp(batch, attempt, owner) => {
            let channel = &channels()[usize::from(*owner == 2)];
            let mut step = Step { term: Duration::ZERO, ..step(*batch, *attempt, *owner) };
            step.batch = step.batch.child(*attempt, channel, []);
            match ledger.step(step).await.unwrap() {
                Stepped::Held(_) => "held".into(),
                other => format!("{other:?}"),
            }
        }
        Act::Kill => {
            drop(ledger);
            engine.kill().await;
            String::new()
        }
        Act::Close(published) => format!("{:?}", ledger.close(&key(), *published).await.unwrap()),
        Act::Abort(zone) => {
            let zone = zone.map(|zone| [zones()[zone]]);
            let zone = zone.as_ref().map(|zone| &zone[..]);
            format!("{:?}", ledger.abort(&key(), zone).await.unwrap())
        }
        Act::Reopen(batch) => {
            let positions: Vec<u32> = places(*batch).into_iter().map(|(position, _)| position).collect();
            format!("{:?}", ledger.reopen(&key(), &positions).await.unwrap())
        }
    }
}

async fn held(ledger: &dyn NightLedger) -> Vec<Held> {
    let all: Vec<u32> = (0..USERS).collect();
    ledger.claims(&key(), &all).await.unwrap()
}

fn outcome(number: u8) -> Outcome {
    match number {
        0 | 1 => Outcome::Delivered,
        2 => Outcome::Retry { maybe: false },
        3 => Outcome::Retry { maybe: true },
        4 => Outcome::Closed(Reason::NoSteps),
        5 => Outcome::Released,
        6 => Outcome::Closed(Reason::Attempts),
        _ => Outcome::Moved { channel: channels()[1].clone() },
    }
}

/// Runs random acts on engines that `start` makes.
pub(crate) fn sample_acts<F, R>(cases: u32, run: R)
where
    R: Fn(Vec<Act>) -> F,
    F: Future<Output = ()>,
{
    samples(cases, &acts(), run);
}

/// Runs cases of a strategy.
pub(crate) fn samples<S, F, R>(cases: u32, of: &S, run: R)
where
    S: Strategy,
    R: Fn(S::Value) -> F,
    F: Future<Output = ()>,
{
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let result = runner.run(of, |case| {
        runtime.block_on(run(case));
        Ok(())
    });
    result.unwrap();
}
