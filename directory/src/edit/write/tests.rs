use domain::Instant;
use proptest::prelude::*;

use super::*;
use crate::{
    Moved, NewDevice, NewUser, Page,
    edit::{Edit, Step},
    page::{body::MOST_USERS, place},
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
        block in 0u64..1 << 56, now in 0i64..0x7fff_ffff, users in prop::collection::btree_map(0u64..256, any::<u64>(), 1..256))
    {
        let now = Instant::from_timestamp(now, 0).unwrap();
        let users: Vec<_> = users.iter().map(|(low, draw)| user(block << 8 | low, *draw)).collect();
        let number = Page::number_of(users[0].uid);
        let mut edit = Edit::open(number, None, users.iter().map(|user| (user.uid, None)), now).unwrap();
        for user in &users {
            edit.step(&Step::Put(user.clone()));
        }
        let changed = edit.end().unwrap();
        let rows: Vec<_> = users.iter().map(row).collect();
        let of_rows = Write::of_rows(number, &rows, now).unwrap().unwrap();
        prop_assert_eq!(unstamped(number, &of_rows.bytes), unstamped(number, &changed.bytes));
        prop_assert_eq!((of_rows.page, of_rows.over, of_rows.turned), (changed.page, changed.over, changed.turned));
        prop_assert_eq!(of_rows.zones, changed.zones);
        prop_assert!(of_rows.records.is_empty());
    }
}

fn of_rows(number: u32, rows: &[RosterRow]) -> Result<Option<Write>, Refusal> {
    Write::of_rows(number, rows, Instant::UNIX_EPOCH)
}

#[test]
fn without_rows_there_is_no_page() {
    assert!(of_rows(7, &[]).unwrap().is_none());
}

fn one(uid: Uid) -> RosterRow {
    row(&user(uid.0, 1 << 50))
}

#[test]
fn a_user_with_two_rows_is_counted_once_as_the_last_one_has_it() {
    let [berlin, tokyo, lima, _] = ZONES.map(|zone| zone.parse::<Zone>().unwrap());
    let moved = |from| Some(Moved { from, last: "20260607".parse().unwrap() });
    let rows = [
        RosterRow { zone: berlin, moved: moved(lima), ..one(Uid(7)) },
        RosterRow { zone: berlin, ..one(Uid(8)) },
        RosterRow { zone: tokyo, moved: moved(berlin), ..one(Uid(7)) },
    ];
    let number = Page::number_of(Uid(7));
    let once = of_rows(number, &rows[1..]).unwrap().unwrap();
    let twice = of_rows(number, &rows).unwrap().unwrap();
    assert_eq!((twice.bytes, &twice.zones), (once.bytes, &once.zones));
    let mut wanted = [(berlin, 1, 1), (tokyo, 1, 0)];
    wanted.sort_unstable();
    assert_eq!(twice.zones, wanted);
}

#[test]
fn a_row_of_another_page_is_refused() {
    let (here, there) = (Page::number_of(Uid(7)), Page::number_of(Uid(7_000)));
    assert_ne!(here, there);
    let refusal = of_rows(here, &[one(Uid(7)), one(Uid(7_000))]).unwrap_err();
    assert_eq!(refusal.field, "uid");
    assert_eq!(refusal.reason, format!("7000 is on page {there}, not on {here}"));
}

#[test]
fn one_row_too_many_is_refused() {
    let row = one(place::uid_at(7, 0));
    let keys = 0..=u64::try_from(MOST_USERS).unwrap();
    let mut rows: Vec<_> = keys.map(|key| RosterRow { uid: place::uid_at(7, key), ..row.clone() }).collect();
    let refusal = of_rows(7, &rows).unwrap_err();
    assert!(refusal.field == "uid" && refusal.reason.contains("262144 users already"), "{refusal:?}");
    // a second row of somebody who is in it takes no room
    rows[MOST_USERS] = row;
    let zones = of_rows(7, &rows).unwrap().unwrap().zones;
    assert_eq!(zones.iter().map(|(_, now, _)| *now).sum::<i64>(), 262_144);
}
