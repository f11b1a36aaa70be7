//! What fails holds up nothing else.

use job_queue::Limits;
use night_ledger::StoreError;
use plumbing::redb::{ReadableTable, TableDefinition};

use crate::{
    DAILY,
    log::Log,
    rig::{Rig, at, campaign, user},
};

/// The ledger's seals, by key.
const SEALS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("ledger.seals");

/// The directory's pages, by part and number.
const PAGES: TableDefinition<'_, (u32, u32), &[u8]> = TableDefinition::new("directory.pages");

/// A campaign whose seals the ledger refuses does not stop the other one; the tick that failed is not a whole one.
#[tokio::test]
async fn a_seal_that_fails_stops_no_other() {
    let channels = (0..33).map(|n| format!("c{n}").parse().unwrap()).collect();
    let bad = domain::Campaign { name: "bad".parse().unwrap(), channels, ..campaign(DAILY, 0) };
    let mut rig = Rig::with(vec![bad, campaign(DAILY, 0)], 2, Limits::default()).await;
    rig.put((0..40).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    let start = rig.scheduler.metrics().last_tick.get();
    rig.tick(at("2026-05-10T12:00:00Z")).await;
    let whole = rig.scheduler.metrics().last_tick.get();
    assert!(whole > start && rig.scheduler.metrics().since_last_tick() < 60.0);
    for second in ["2026-05-10T21:50:00Z", "2026-05-10T22:00:00Z", "2026-05-10T22:00:01Z"] {
        let end = rig.scheduler.tick(at(second)).await;
        assert!(matches!(end, Err(StoreError::Corrupt { what: "seal", .. })), "{end:?}");
    }
    assert_eq!(rig.take(2).await.iter().map(|b| b.entries.len()).sum::<usize>(), 40);
    assert_eq!(rig.scheduler.metrics().last_tick.get().to_bits(), whole.to_bits());
}

/// A seal whose batches the queue does not take holds up no other, and is seen to be late.
#[tokio::test]
async fn a_publish_that_fails_holds_up_no_other() {
    let mut rig = Rig::with(vec![campaign(DAILY, 0)], 2, Limits { batches: 1, ..Limits::default() }).await;
    let mut second = user(2, "UTC");
    second.devices.as_mut().unwrap()[0].channel = "webhook".parse().unwrap();
    // shard 0 has a batch on each of two channels, one more than fits; shard 1 has one
    rig.put([user(0, "UTC"), second, user(1, "UTC")], at("2026-05-10T12:00:00Z")).await;
    rig.tick(at("2026-05-10T21:50:00Z")).await;
    let end = rig.scheduler.tick(at("2026-05-10T22:00:00Z")).await;
    assert!(matches!(end, Err(StoreError::Full { what: "the job queue", .. })), "{end:?}");
    let [batch] = &rig.take(1).await[..] else { panic!("one is wanted") };
    assert_eq!(batch.entries.iter().map(|e| e.uid.0).collect::<Vec<_>>(), [1]);
    assert!(rig.scheduler.tick(at("2026-05-10T22:00:30Z")).await.is_err());
    let lag = rig.scheduler.metrics().slot_lag.get();
    assert!((30.0..60.0).contains(&lag), "{lag}");
    assert_eq!(rig.queue.depth(&"webhook".parse().unwrap()).await.unwrap().ready, 0);
}

/// A page of the directory that cannot be read is told at every tick, and everybody else has their night.
#[tokio::test]
async fn a_page_that_cannot_be_read_holds_up_nobody_else() {
    let mut rig = Rig::new(campaign(DAILY, 0), 2).await;
    rig.put((0..40).map(|u| user(u << 40, "UTC")), at("2026-05-10T12:00:00Z")).await;
    let damaged = rig.file.write(|to| {
        let mut pages = to.open_table(PAGES)?;
        let first = pages.first()?.map(|(key, _)| key.value());
        pages.insert(first.unwrap(), &[0][..])?;
        Ok(())
    });
    damaged.await.unwrap();
    let log = Log::start();
    let start = rig.scheduler.metrics().last_tick.get();
    for second in ["2026-05-10T21:50:00Z", "2026-05-10T22:00:00Z", "2026-05-10T22:00:01Z"] {
        let end = rig.scheduler.tick(at(second)).await;
        assert!(matches!(end, Err(StoreError::Corrupt { what: "a part of the directory", .. })), "{end:?}");
    }
    assert_eq!(rig.scheduler.metrics().last_tick.get().to_bits(), start.to_bits());
    let users = rig.queue.depth(&"stub".parse().unwrap()).await.unwrap().users.unwrap();
    assert!((1..40).contains(&users), "{users}");
    assert_eq!(log.count("pages of the directory cannot be read"), 1);
}

/// Seals that cannot be read are read again at the next tick, and the others go out meanwhile.
#[tokio::test]
async fn a_seal_that_cannot_be_read_is_tried_again_at_once() {
    let mut rig = sealed().await.restart(2, 2).await;
    let sound = damage(&rig).await;
    let end = rig.scheduler.tick(at("2026-05-10T22:00:00Z")).await;
    assert!(matches!(end, Err(StoreError::Corrupt { .. })), "{end:?}");
    let depth = rig.queue.depth(&"stub".parse().unwrap()).await.unwrap();
    assert_eq!((depth.ready, depth.users), (1, Some(20)));
    write(&rig, sound).await;
    let ticked = rig.tick(at("2026-05-10T22:00:01Z")).await;
    assert_eq!(ticked.published, 1);
}

/// The same of a night that is only to be closed, and on no agenda.
#[tokio::test]
async fn a_seal_of_another_campaign_that_cannot_be_read_is_tried_again_at_once() {
    let weekly = domain::Campaign { name: "weekly".parse().unwrap(), ..campaign(DAILY, 0) };
    let mut rig = sealed().await.restart_with(vec![weekly], 2, 2).await;
    let sound = damage(&rig).await;
    let over = at("2026-05-11T00:00:00Z");
    assert!(rig.scheduler.tick(over).await.is_err());
    let night = domain::Night { campaign: "nightly".parse().unwrap(), day: "20260510".parse().unwrap() };
    assert_eq!(rig.ledger.sums(&night).await.unwrap().total().open, 20, "the other shard is closed");
    write(&rig, sound).await;
    assert_eq!(rig.tick(over).await.closed.missed, 20);
    assert_eq!(rig.sums_of(&night).await.open, 0);
}

/// A night of 40 users in two shards, sealed.
async fn sealed() -> Rig {
    let mut rig = Rig::new(campaign(DAILY, 0), 2).await;
    rig.put((0..40).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
    rig.tick(at("2026-05-10T21:50:00Z")).await;
    rig
}

/// A row of the ledger's seals.
type Row = (Vec<u8>, Vec<u8>);

/// Makes the first seal unreadable; answers it as it was.
async fn damage(rig: &Rig) -> Row {
    let table = rig.file.read().unwrap().open_table(SEALS).unwrap();
    let (key, sound) = table.first().unwrap().map(|(k, v)| (k.value().to_vec(), v.value().to_vec())).unwrap();
    write(rig, (key.clone(), vec![0])).await;
    (key, sound)
}

async fn write(rig: &Rig, (key, bytes): Row) {
    let written = rig.file.write(move |to| {
        to.open_table(SEALS)?.insert(&key[..], &bytes[..])?;
        Ok(())
    });
    written.await.unwrap();
}
