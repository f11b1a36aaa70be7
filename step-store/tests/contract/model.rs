use std::collections::HashMap;

use domain::{Day, Uid};
use proptest::{collection::vec, prelude::*, strategy::ValueTree, test_runner::TestRunner};
use step_store::{Add, Added};

use crate::engine::Engine;

/// One call: (user, days after 7 June, steps) each. Users of a case are moved apart from those of the others.
type Call = Vec<(u64, u32, u32)>;

pub(crate) async fn it_agrees_with_a_plain_map(engine: &mut impl Engine) {
    let store = engine.store();
    let strategy = vec(vec((0u64..4, 0u32..3, 0u32..120_000), 0..20), 1..5);
    let mut runner = TestRunner::default();
    for case in 0..16 {
        let calls: Vec<Call> = strategy.new_tree(&mut runner).unwrap().current();
        let mut model = HashMap::<(u64, u32), u64>::new();
        for call in &calls {
            let adds = call.iter().map(|(uid, off, steps)| Add {
                uid: Uid(case * 1_000 + uid * 200),
                day: Day::from_number(20_260_607 + off).unwrap(),
                steps: *steps,
            });
            let adds: Vec<_> = adds.collect();
            let expected: Vec<_> = adds.iter().map(|add| add_to(&mut model, add)).collect();
            assert_eq!(store.add(adds).await.unwrap(), expected, "{calls:?}");
        }
        for ((uid, number), sum) in model {
            let read = store.read(Uid(uid), Day::from_number(number).unwrap()).await.unwrap();
            assert_eq!(u64::from(read), sum, "{calls:?}");
        }
    }
}

fn add_to(model: &mut HashMap<(u64, u32), u64>, add: &Add) -> Added {
    let sum = model.entry((add.uid.0, add.day.number())).or_default();
    let next = *sum + u64::from(add.steps);
    if next > 200_000 {
        return Added::TooMany;
    }
    *sum = next;
    Added::Stored(u32::try_from(next).unwrap())
}
