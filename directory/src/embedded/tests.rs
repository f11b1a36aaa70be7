use std::{collections::BTreeMap, path::Path};

use proptest::prelude::*;

use super::*;
use crate::{NewDevice, NewUser};

fn directory(folder: &Path) -> EmbeddedDirectory {
    EmbeddedDirectory::open(Arc::new(File::open(&folder.join("data")).unwrap())).unwrap()
}

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn noon() -> Instant {
    at("2026-06-07T12:00:00Z")
}

fn new(uid: u64, zone: &str, devices: &[(&str, &str)]) -> NewUser {
    let device = |(channel, address): &(&str, &str)| NewDevice {
        channel: channel.parse().unwrap(),
        address: (*address).to_owned(),
        registered_at: None,
    };
    NewUser {
        uid: Uid(uid),
        zone: zone.parse().unwrap(),
        region: None,
        language: None,
        consent: Some(true),
        consent_at: None,
        devices: Some(devices.iter().map(device).collect()),
        name: Some(format!("user {uid}")),
    }
}

fn put(uid: u64, zone: &str, devices: &[(&str, &str)]) -> Change {
    Change::Put(new(uid, zone, devices))
}

async fn zones(of: &EmbeddedDirectory) -> Vec<(&'static str, u64)> {
    of.zones().await.unwrap().into_iter().map(|(zone, n)| (zone.name(), n)).collect()
}

async fn whole_roster(of: &EmbeddedDirectory) -> RosterPage {
    of.roster(None, MOST_ROWS).await.unwrap()
}

/// The names of the channels of a row.
fn channels<'a>(page: &'a RosterPage, row: &RosterRow) -> Vec<&'a str> {
    page.channels.iter().filter(|c| row.channels & page.bit(c) != 0).map(ChannelName::as_str).collect()
}

#[tokio::test]
async fn an_empty_directory_answers() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(folder.path());
    assert_eq!(directory.users(&[Uid(1), Uid(2)]).await.unwrap(), [None, None]);
    assert_eq!(whole_roster(&directory).await, RosterPage::default());
    assert_eq!(zones(&directory).await, []);
    assert_eq!(directory.apply(Vec::new(), noon()).await.unwrap(), []);
    assert!(!directory.drop_device(Uid(1), &"stub".parse().unwrap(), "a", noon()).await.unwrap());
}

#[tokio::test]
async fn changes_are_applied_in_order_and_twice_is_once() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(folder.path());
    let changes = vec![
        put(3, "Europe/Berlin", &[("stub", "a"), ("stub", "b"), ("webhook", "c")]),
        put(1, "Asia/Tokyo", &[("webhook", "d")]),
        put(3, "Europe/Berlin", &[("stub", "a"), ("webhook", "c")]),
        put(2, "Europe/Berlin", &[]),
        Change::Delete(Uid(1)),
        Change::Delete(Uid(9)),
    ];
    use Applied::{Absent, Created, Deleted, Unchanged, Updated};
    let first = directory.apply(changes, noon()).await.unwrap();
    assert_eq!(first, [Created, Created, Updated, Created, Deleted, Absent]);
    let again =
        vec![put(3, "Europe/Berlin", &[("stub", "a"), ("webhook", "c")]), put(2, "Europe/Berlin", &[])];
    let before = directory.users(&[Uid(3), Uid(1), Uid(2)]).await.unwrap();
    assert_eq!(directory.apply(again, at("2026-07-01T00:00:00Z")).await.unwrap(), [Unchanged, Unchanged]);
    assert_eq!(directory.users(&[Uid(3), Uid(1), Uid(2)]).await.unwrap(), before);

    assert_eq!(before[0].as_ref().map(|user| user.devices.len()), Some(2));
    assert_eq!(before[1], None);
    assert_eq!(zones(&directory).await, [("Europe/Berlin", 2)]);
    let page = whole_roster(&directory).await;
    assert_eq!(page.rows.iter().map(|row| row.uid.0).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(channels(&page, &page.rows[0]), [""; 0]);
    assert_eq!(channels(&page, &page.rows[1]), ["stub", "webhook"]);
    assert_eq!(page.rows[1].due_from, noon());
}

#[tokio::test]
async fn a_move_is_in_the_record_the_roster_and_the_zones() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(folder.path());
    directory.apply(vec![put(1, "Pacific/Pago_Pago", &[])], at("2026-06-01T00:00:00Z")).await.unwrap();
    let change = vec![put(1, "Pacific/Kiritimati", &[])];
    assert_eq!(directory.apply(change, at("2026-06-07T13:00:00Z")).await.unwrap(), [Applied::Updated]);
    let moved = Moved { from: "Pacific/Pago_Pago".parse().unwrap(), last: "20260607".parse().unwrap() };
    assert_eq!(directory.users(&[Uid(1)]).await.unwrap()[0].as_ref().unwrap().moved, Some(moved));
    let row = whole_roster(&directory).await.rows[0];
    assert_eq!((row.zone.name(), row.moved), ("Pacific/Kiritimati", Some(moved)));
    assert_eq!(zones(&directory).await, [("Pacific/Kiritimati", 1), ("Pacific/Pago_Pago", 0)]);
    // the next move forgets the one before
    directory.apply(vec![put(1, "Asia/Tokyo", &[])], at("2026-06-20T00:00:00Z")).await.unwrap();
    assert_eq!(zones(&directory).await, [("Asia/Tokyo", 1), ("Pacific/Kiritimati", 0)]);
    directory.apply(vec![Change::Delete(Uid(1))], noon()).await.unwrap();
    assert_eq!(zones(&directory).await, []);
}

#[tokio::test]
async fn a_device_registered_again_after_it_was_gone_stays() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(folder.path());
    let apns: ChannelName = "apns".parse().unwrap();
    let [t1, gone, t2] = ["2026-06-01T00:00:00Z", "2026-06-02T00:00:00Z", "2026-06-03T00:00:00Z"].map(at);
    let mut user = new(1, "Asia/Tokyo", &[("apns", "a"), ("apns", "b"), ("stub", "a")]);
    user.devices.as_mut().unwrap()[0].registered_at = Some(t1);
    user.devices.as_mut().unwrap()[1].registered_at = Some(t2);
    directory.apply(vec![Change::Put(user)], t2).await.unwrap();
    assert!(directory.drop_device(Uid(1), &apns, "a", gone).await.unwrap());
    assert!(!directory.drop_device(Uid(1), &apns, "a", gone).await.unwrap(), "it is off already");
    assert!(!directory.drop_device(Uid(1), &apns, "b", gone).await.unwrap(), "it was registered again");
    assert!(!directory.drop_device(Uid(2), &apns, "a", gone).await.unwrap(), "nobody");
    let left = directory.users(&[Uid(1)]).await.unwrap().remove(0).unwrap().devices;
    assert_eq!(
        left.iter().map(|d| (d.channel.as_str(), d.address.as_str())).collect::<Vec<_>>(),
        [("apns", "b"), ("stub", "a")]
    );
    assert!(directory.drop_device(Uid(1), &apns, "b", t2).await.unwrap());
    let page = whole_roster(&directory).await;
    assert_eq!(channels(&page, &page.rows[0]), ["stub"]);
}

#[tokio::test]
async fn a_channel_too_many_is_refused_by_name_and_alone() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(folder.path());
    let names: Vec<_> = (0..33).map(|i| format!("c{i}")).collect();
    let mut changes: Vec<_> =
        names[..32].iter().zip(1..).map(|(c, uid)| put(uid, "Asia/Tokyo", &[(c, "x")])).collect();
    changes.push(put(40, "Asia/Tokyo", &[("c0", "x"), (&names[32], "x")]));
    changes.push(put(41, "Asia/Tokyo", &[("c31", "x")]));
    let applied = directory.apply(changes, noon()).await.unwrap();
    let Applied::Refused(refusal) = &applied[32] else { panic!("{:?}", applied[32]) };
    assert_eq!(refusal.field, "devices[1].channel");
    assert!(refusal.reason.starts_with("c32 "), "{refusal}");
    assert_eq!(applied[33], Applied::Created);
    assert_eq!(directory.users(&[Uid(40)]).await.unwrap(), [None]);
    let page = whole_roster(&directory).await;
    assert_eq!(page.rows.iter().map(|row| channels(&page, row).len()).collect::<Vec<_>>(), [1; 33]);
    assert_eq!(channels(&page, &page.rows[32]), ["c31"]);
    // a channel that nobody uses any more makes room
    let changes = vec![Change::Delete(Uid(6)), put(40, "Asia/Tokyo", &[("c32", "x")])];
    assert_eq!(directory.apply(changes, noon()).await.unwrap(), [Applied::Deleted, Applied::Created]);
    let page = whole_roster(&directory).await;
    assert_eq!(page.channels.len(), 32);
    let row = page.rows.iter().find(|row| row.uid == Uid(40)).unwrap();
    assert_eq!(channels(&page, row), ["c32"]);
}

#[tokio::test]
async fn a_user_past_a_limit_is_refused_and_the_rest_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(folder.path());
    let long = Change::Put(NewUser { name: Some("x".repeat(201)), ..new(1, "Asia/Tokyo", &[]) });
    let applied = directory.apply(vec![long, put(2, "Asia/Tokyo", &[])], noon()).await.unwrap();
    assert!(matches!(&applied[0], Applied::Refused(refusal) if refusal.field == "name"));
    assert_eq!(applied[1], Applied::Created);
    let end = directory.apply(vec![Change::Delete(Uid(2)); 10_001], noon()).await;
    assert!(matches!(end, Err(StoreError::Full { limit: 10_000, .. })), "{end:?}");
    assert!(directory.users(&[Uid(2)]).await.unwrap()[0].is_some());
    assert!(matches!(directory.roster(None, MOST_ROWS + 1).await, Err(StoreError::Full { .. })));
}

#[tokio::test]
async fn the_roster_is_read_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(folder.path());
    let uids = [0, 1, 5, 1_000, u64::MAX - 1, u64::MAX];
    directory.apply(uids.map(|uid| put(uid, "Asia/Tokyo", &[])).to_vec(), noon()).await.unwrap();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = directory.roster(after, 4).await.unwrap();
        seen.extend(page.rows.iter().map(|row| row.uid.0));
        after = page.rows.last().map(|row| row.uid);
        if page.rows.len() < 4 {
            break;
        }
    }
    assert_eq!(seen, uids);
    assert_eq!(directory.roster(Some(Uid(u64::MAX)), 4).await.unwrap().rows, []);
}

#[tokio::test]
async fn a_hundred_thousand_users_are_written_and_scanned() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(folder.path());
    let zones_of = ["Europe/Berlin", "Asia/Tokyo", "America/Lima", "Pacific/Apia"];
    for batch in 0..10u64 {
        let uids = batch * 10_000..(batch + 1) * 10_000;
        let changes =
            uids.map(|uid| put(uid, zones_of[usize::try_from(uid % 4).unwrap()], &[("stub", "x")])).collect();
        let applied = directory.apply(changes, noon()).await.unwrap();
        assert!(applied.iter().all(|a| *a == Applied::Created));
    }
    let page = whole_roster(&directory).await;
    assert_eq!(page.rows.len(), 100_000);
    assert!(page.rows.iter().zip(0..).all(|(row, uid)| row.uid == Uid(uid) && row.channels == 1));
    assert_eq!(zones(&directory).await.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [25_000; 4]);
}

#[tokio::test]
async fn a_record_of_a_later_version_is_an_error_that_names_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let directory = directory(folder.path());
    let later = |to: &redb::WriteTransaction| {
        to.open_table(USERS)?.insert(7, [9u8, 9].as_slice())?;
        Ok(())
    };
    directory.file.write(later).await.unwrap();
    let error = directory.users(&[Uid(7)]).await.unwrap_err().to_string();
    assert!(error.contains("uid 7") && error.contains("version 9"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// After any changes, roster and counts are what the records say.
    #[test]
    fn roster_and_counts_follow_the_records(steps in prop::collection::vec(
        (0u64..5, prop::option::of((0usize..4, prop::collection::vec(0usize..3, 0..3))), 0i64..200), 1..40))
    {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let directory = directory(folder.path());
        let zones_of = ["Pacific/Pago_Pago", "Europe/Berlin", "Asia/Tokyo", "Pacific/Kiritimati"];
        let channels_of = [("a", "x"), ("b", "y"), ("c", "z")];
        let mut now = noon();
        for (uid, step, hours) in steps {
            now += chrono::TimeDelta::hours(hours);
            let change = match step {
                Some((zone, devices)) => {
                    let devices: Vec<_> = devices.into_iter().map(|i| channels_of[i]).collect();
                    put(uid, zones_of[zone], &devices)
                }
                None => Change::Delete(Uid(uid)),
            };
            runtime.block_on(directory.apply(vec![change], now)).unwrap();
        }
        let uids: Vec<_> = (0..5).map(Uid).collect();
        let users = runtime.block_on(directory.users(&uids)).unwrap().into_iter().flatten().collect::<Vec<_>>();
        let page = runtime.block_on(whole_roster(&directory));
        prop_assert_eq!(page.rows.len(), users.len());
        let mut counts = BTreeMap::<&str, u64>::new();
        for (row, user) in page.rows.iter().zip(&users) {
            *counts.entry(user.zone.name()).or_default() += 1;
            if let Some(moved) = user.moved {
                counts.entry(moved.from.name()).or_default();
            }
            prop_assert_eq!((row.uid, row.zone, row.moved), (user.uid, user.zone, user.moved));
            prop_assert_eq!((row.consent, row.due_from), (user.consent, user.consent_at));
            let bits = user.devices.iter().fold(0, |bits, device| bits | page.bit(&device.channel));
            prop_assert_eq!(row.channels, bits);
        }
        prop_assert_eq!(runtime.block_on(zones(&directory)), counts.into_iter().collect::<Vec<_>>());
    }
}
