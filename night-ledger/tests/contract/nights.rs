//! Nights, their brakes, and when a campaign was first seen.

use chrono::TimeDelta;
use domain::{Night, ShardCount};
use night_ledger::Brake;

use crate::{
    engine::Engine,
    rig::{key, night, sample, sealed, zones},
};

pub(crate) async fn a_night_keeps_its_shard_count_and_is_forgotten_whole(engine: &mut dyn Engine) {
    let ledger = engine.ledger();
    let two = ShardCount::new(2).unwrap();
    assert_eq!(ledger.shard_count(&night(), two).await.unwrap(), two);
    assert_eq!(ledger.shard_count(&night(), ShardCount::new(8).unwrap()).await.unwrap(), two);
    ledger.seal(&key(), &sample()).await.unwrap();
    ledger.set_brake(&night(), None, Some(Brake::Aborted)).await.unwrap();
    let earlier = Night { campaign: "weekly".parse().unwrap(), day: "20260606".parse().unwrap() };
    let later = Night { day: night().day.next(), ..night() };
    for night in [&later, &earlier] {
        ledger.shard_count(night, two).await.unwrap();
    }
    assert_eq!(ledger.nights().await.unwrap(), [earlier.clone(), night(), later.clone()]);
    assert_eq!(ledger.forget(earlier.day).await.unwrap(), 0);
    assert_eq!(ledger.forget(later.day).await.unwrap(), 2);
    assert_eq!(ledger.nights().await.unwrap(), [later]);
    assert!(ledger.sums(&night()).await.unwrap().lines.is_empty());
    assert_eq!(ledger.sealed(&key()).await.unwrap(), None);
    assert!(ledger.brakes(&night()).await.unwrap().is_empty());
    assert!(ledger.claims(&key(), &[0]).await.is_err());
}

pub(crate) async fn a_campaign_is_first_seen_once_with_a_line(engine: &mut dyn Engine) {
    let ledger = engine.ledger();
    let (campaign, now) = (night().campaign, key().instant);
    let seen = ledger.first_seen(&campaign, "0 22 * * *", now).await.unwrap();
    assert_eq!(seen, now);
    let later = now + TimeDelta::hours(3);
    assert_eq!(ledger.first_seen(&campaign, "0 22 * * *", later).await.unwrap(), now);
    assert_eq!(ledger.first_seen(&campaign, "0 21 * * *", later).await.unwrap(), later);
}

pub(crate) async fn an_abort_stays_and_a_pause_does_not(engine: &mut dyn Engine) {
    let ledger = sealed(engine).await;
    let [berlin, paris] = zones();
    assert!(ledger.brakes(&night()).await.unwrap().is_empty());
    ledger.set_brake(&night(), None, Some(Brake::Paused)).await.unwrap();
    ledger.set_brake(&night(), Some(berlin), Some(Brake::Aborted)).await.unwrap();
    let brakes = ledger.brakes(&night()).await.unwrap();
    assert_eq!((brakes.on(berlin), brakes.on(paris)), (Some(Brake::Aborted), Some(Brake::Paused)));
    ledger.set_brake(&night(), None, None).await.unwrap();
    ledger.set_brake(&night(), Some(berlin), None).await.unwrap();
    ledger.set_brake(&night(), Some(berlin), Some(Brake::Paused)).await.unwrap();
    ledger.set_brake(&night(), Some(paris), None).await.unwrap();
    let brakes = ledger.brakes(&night()).await.unwrap();
    assert_eq!((brakes.on(berlin), brakes.on(paris)), (Some(Brake::Aborted), None));
    ledger.set_brake(&night(), None, Some(Brake::Aborted)).await.unwrap();
    ledger.set_brake(&night(), None, None).await.unwrap();
    assert_eq!(ledger.brakes(&night()).await.unwrap().whole, Some(Brake::Aborted));
    let next = Night { day: night().day.next(), ..night() };
    assert!(ledger.brakes(&next).await.unwrap().is_empty());
}
