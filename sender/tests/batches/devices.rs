//! Users with several devices: each keeps its name over the retries of a night, also when another of them is gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock, atomic::Ordering},
};

use directory::{NewDevice, NewUser};
use domain::Uid;
use night_ledger::Class;
use sender::{
    Ended,
    channel::{Fault, Quota},
};

use crate::{
    away::until,
    ledger::Flawed,
    rig::{Provider, Rig, at, device, settings, user},
};

fn gone() -> Fault {
    Fault::DeviceGone { since: at("2026-06-07T20:00:00Z") }
}

/// Two devices, of which the one that is named last was registered first.
fn with_two(uid: u64) -> NewUser {
    let older = NewDevice { registered_at: Some(at("2025-01-01T00:00:00Z")), ..device("stub", uid, 1) };
    NewUser { devices: Some(vec![device("stub", uid, 0), older]), ..user(uid) }
}

async fn addresses(rig: &Rig, uid: u64) -> Vec<String> {
    let users = rig.parts.directory.users(&[Uid(uid)]).await.unwrap();
    users[0].as_ref().unwrap().devices.iter().map(|d| d.address.clone()).collect()
}

/// The first is gone at every try while the second is put off, for whatever reason: the second never gets its name.
#[tokio::test]
async fn a_device_keeps_its_identity_over_retries_while_another_is_gone() {
    let put_off = [
        Fault::Retry { after: None, maybe: true },
        Fault::NoAnswer,
        Fault::Throttled { after: Some(std::time::Duration::from_millis(1)) },
    ];
    for fault in put_off {
        let answer = fault.clone();
        let provider = Provider::new(move |seen, times| match (seen.address.as_str(), times) {
            ("stub-1-1", _) => Err(gone()),
            (_, 1) => Err(answer.clone()),
            _ => Ok(()),
        });
        let rig = Rig::new(&provider, settings(), &Quota::default()).await;
        let batch = rig.sealed(vec![with_two(1)], |_| 5_000).await;
        rig.work(&batch).await.unwrap();
        assert_eq!(addresses(&rig, 1).await.len(), 2, "it is to be tried again: {fault:?}");
        rig.drain().await;
        let sums = rig.sums().await;
        assert_eq!((sums.delivered, sums.open), (1, 0), "{fault:?}");
        assert_eq!(addresses(&rig, 1).await, ["stub-1-0"], "{fault:?}");
        let mut keys = BTreeMap::<_, BTreeSet<_>>::new();
        for seen in provider.seen.lock().unwrap().iter() {
            keys.entry(seen.address.clone()).or_default().insert(seen.key.clone());
        }
        assert!(keys.values().all(|keys| keys.len() == 1), "{fault:?}: {keys:?}");
        assert_eq!(keys["stub-1-1"].first().unwrap(), "nightly.20260607.1", "it was registered first");
        assert!(keys["stub-1-0"].first().unwrap().starts_with("nightly.20260607.1."), "{keys:?}");
        assert_eq!(provider.seen.lock().unwrap().len(), 4, "{fault:?}");
    }
}

/// What was given up may be replayed, and then finds the devices as they were.
#[tokio::test]
async fn who_is_given_up_keeps_the_devices() {
    let later = Fault::Retry { after: None, maybe: false };
    let provider = Provider::new(
        move |seen, _| {
            if seen.address == "stub-1-1" { Err(gone()) } else { Err(later.clone()) }
        },
    );
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed(vec![with_two(1)], |_| 5_000).await;
    rig.work(&batch).await.unwrap();
    rig.drain().await;
    assert_eq!(rig.sums().await.class(Class::Dead), 1);
    assert_eq!(addresses(&rig, 1).await.len(), 2);
}

/// Until the outcome is booked the push may come again.
#[tokio::test]
async fn a_device_that_is_gone_is_dropped_when_the_outcome_is_booked() {
    let ledger = Arc::new(OnceLock::<Arc<Flawed>>::new());
    let held = Arc::clone(&ledger);
    let provider = Provider::new(move |seen, _| {
        held.get().unwrap().away.store(1_000, Ordering::SeqCst);
        if seen.address == "stub-1-1" { Err(gone()) } else { Ok(()) }
    });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    assert!(ledger.set(Arc::clone(&rig.ledger)).is_ok());
    let batch = rig.sealed(vec![with_two(1)], |_| 5_000).await;
    let looking = async {
        until(async || (1..1_000).contains(&rig.ledger.away.load(Ordering::SeqCst))).await;
        let while_away = addresses(&rig, 1).await.len();
        rig.ledger.away.store(0, Ordering::SeqCst);
        while_away
    };
    let (ended, while_away) = tokio::join!(rig.work(&batch), looking);
    assert_eq!((ended.unwrap(), while_away), (Ended::Done, 2));
    assert_eq!((addresses(&rig, 1).await, rig.sums().await.delivered), (vec!["stub-1-0".to_owned()], 1));
}
