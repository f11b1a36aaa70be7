use domain::Instant;
use proptest::prelude::*;

use super::*;
use crate::{
    NewDevice, NewUser, Page,
    edit::{Edit, Step},
};

const ZONES: [&str; 4] = ["Europe/Berlin", "Asia/Tokyo", "America/Lima", "Africa/Nairobi"];
const CHANNELS: [&str; 3] = ["fcm", "apns", "stub"];

fn user(uid: u64, draw: u64) -> NewUser {
    let seconds = i64::try_from(draw >> 8 & 0x7fff_ffff).unwrap();
    let at = Instant::from_timestamp(seconds, 0);
    let devices = CHANNELS.iter().zip(0..).filter(|(_, i)| draw >> (40 + i) & 1 != 0).map(|(name, _)| {
        NewDevice { channel: name.parse().unwrap(), address: "x".into(), registered_at: at }
    });
    NewUser {
        uid: Uid(uid),
        zone: ZONES[usize::try_from(draw % 4).unwrap()].parse().unwrap(),
        region: None,
        language: None,
        consent: Some(draw >> 50 & 3 != 0),
        consent_at: at,
        devices: Some(devices.collect()),
        name: None,
    }
}

fn row(user: &NewUser) -> RosterRow {
    RosterRow {
        uid: user.uid,
        zone: user.zone,
        moved: None,
        consent: user.consent.unwrap(),
        due_from: user.consent_at.unwrap(),
        channels: user.devices.iter().flatten().map(|device| device.channel.clone()).collect(),
    }
}

/// The bytes but for the stamp, which hangs on the records as well.
fn unstamped(number: u32, bytes: &Option<Vec<u8>>) -> Vec<u8> {
    Page::new(number, bytes.clone().unwrap()).stamped(0).into_bytes()
}

proptest! {
    #[test]
    fn a_page_of_rows_is_the_page_that_changes_make(
        block in 0u64..1 << 56, users in prop::collection::btree_map(0u64..256, any::<u64>(), 1..256))
    {
        let users: Vec<_> = users.iter().map(|(low, draw)| user(block << 8 | low, *draw)).collect();
        let number = Page::number_of(users[0].uid);
        let mut edit = Edit::open(number, None, users.iter().map(|user| (user.uid, None))).unwrap();
        for user in &users {
            edit.step(&Step::Put(user.clone()), Instant::UNIX_EPOCH);
        }
        let changed = edit.end().unwrap();
        let rows: Vec<_> = users.iter().map(row).collect();
        let of_rows = Write::of_rows(number, &rows).unwrap().unwrap();
        prop_assert_eq!(unstamped(number, &of_rows.bytes), unstamped(number, &changed.bytes));
        prop_assert_eq!((of_rows.page, of_rows.over, of_rows.turned), (changed.page, changed.over, changed.turned));
        prop_assert_eq!(of_rows.zones, changed.zones);
        prop_assert!(of_rows.records.is_empty());
    }
}

#[test]
fn without_rows_there_is_no_page() {
    assert!(Write::of_rows(7, &[]).unwrap().is_none());
}
