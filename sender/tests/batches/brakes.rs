//! What an operator stops, for a while or for good.

use std::{sync::atomic::Ordering, time::Duration};

use directory::NewUser;
use domain::Zone;
use job_queue::JobQueue;
use night_ledger::{Brake, Class, Reason};
use sender::{Ended, channel::Quota};

use crate::rig::{Provider, Rig, at, settings, stub, user};

fn paris() -> Zone {
    "Europe/Paris".parse().unwrap()
}

/// Users of Berlin, and from 21 on of Paris.
fn two_zones() -> Vec<NewUser> {
    (1..=40).map(|uid| if uid > 20 { NewUser { zone: paris(), ..user(uid) } } else { user(uid) }).collect()
}

async fn brake(rig: &Rig, zone: Option<Zone>, brake: Option<Brake>) {
    rig.parts.ledger.set_brake(&rig.key().night, zone, brake).await.unwrap();
}

#[tokio::test]
async fn a_paused_night_waits_in_the_ladder_and_goes_on() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=20).map(user).collect(), |_| 5_000).await;
    brake(&rig, None, Some(Brake::Paused)).await;
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Delayed);
    let depth = rig.raw.depth(&stub()).await.unwrap();
    assert_eq!((depth.delayed, provider.count(), rig.sums().await.open), (1, 0, 20));
    brake(&rig, None, None).await;
    rig.drain().await;
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.open, provider.count()), (20, 0, 20));
}

#[tokio::test]
async fn a_paused_zone_is_set_apart_and_the_rest_goes_out() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed(two_zones(), |_| 5_000).await;
    brake(&rig, Some(paris()), Some(Brake::Paused)).await;
    // killed between the record and the queue
    rig.cut.store(true, Ordering::SeqCst);
    rig.work(&batch).await.unwrap_err();
    assert_eq!(rig.raw.depth(&stub()).await.unwrap().delayed, 0);
    rig.cut.store(false, Ordering::SeqCst);
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.open, provider.count()), (20, 20, 20));
    assert!(rig.raw.depth(&stub()).await.unwrap().delayed >= 1);
    brake(&rig, Some(paris()), None).await;
    rig.drain().await;
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.open, sums.duplicates, provider.count()), (40, 0, 0, 40));
    assert!(rig.dead().await.is_empty());
}

#[tokio::test]
async fn past_its_deadline_what_is_paused_expires() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed(two_zones(), |_| 5_000).await;
    brake(&rig, None, Some(Brake::Paused)).await;
    rig.parts.clock.move_to(at("2026-06-07T22:00:00Z"));
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
    let sums = rig.sums().await;
    assert_eq!((sums.class(Class::Expired), sums.open, provider.count()), (40, 0, 0));
}

#[tokio::test]
async fn an_aborted_zone_ends_without_a_push() {
    let provider = Provider::new(|_, _| Ok(()));
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed(two_zones(), |_| 5_000).await;
    brake(&rig, Some(paris()), Some(Brake::Aborted)).await;
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Done);
    let sums = rig.sums().await;
    assert_eq!((sums.delivered, sums.class(Class::Aborted), sums.open), (20, 20, 0));
    assert_eq!(sums.reasons[usize::from(Reason::Operator.code())], 20);
    assert_eq!(provider.count(), 20);
}

#[tokio::test]
async fn a_pause_holds_between_two_chunks_of_a_batch() {
    let (pausing, mut paused) = tokio::sync::mpsc::unbounded_channel();
    let (set, is_set) = std::sync::mpsc::channel();
    let is_set = std::sync::Mutex::new(is_set);
    let provider = Provider::new(move |seen, _| {
        if seen.uid == 5 {
            pausing.send(()).unwrap();
            is_set.lock().unwrap().recv().unwrap();
            // and the last answer on brakes is old when the next chunk asks
            std::thread::sleep(Duration::from_millis(1_100));
        }
        Ok(())
    });
    let rig = Rig::new(&provider, settings(), &Quota::default()).await;
    let batch = rig.sealed((1..=40).map(user).collect(), |_| 5_000).await;
    let night = rig.key().night;
    let ledger = std::sync::Arc::clone(&rig.parts.ledger);
    let brake = std::thread::spawn(move || {
        paused.blocking_recv().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(ledger.set_brake(&night, None, Some(Brake::Paused))).unwrap();
        set.send(()).unwrap();
    });
    assert_eq!(rig.work(&batch).await.unwrap(), Ended::Delayed);
    brake.join().unwrap();
    assert_eq!((rig.sums().await.delivered, provider.count()), (10, 10));
}
