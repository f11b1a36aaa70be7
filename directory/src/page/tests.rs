use domain::{Language, Region};
use proptest::prelude::*;

use super::{sheet::Sheet, *};
use crate::{Device, User, horizon::Horizon};

fn user(uid: u64, zone: &str, channels: &[&str]) -> User {
    let device = |channel: &&str| Device {
        channel: channel.parse().unwrap(),
        address: "x".into(),
        registered_at: Instant::UNIX_EPOCH,
    };
    User {
        uid: Uid(uid),
        zone: zone.parse().unwrap(),
        moved: None,
        region: Region::default(),
        language: Language::default(),
        consent: true,
        consent_at: "1970-01-01T02:00:00Z".parse().unwrap(),
        devices: channels.iter().map(device).collect(),
        name: String::new(),
    }
}

/// So long ago that nothing is too old.
fn always() -> Horizon {
    Horizon::at(Instant::UNIX_EPOCH)
}

fn page(users: &[User], horizon: Horizon) -> Option<Page> {
    let mut sheet = Sheet::open(0, None, horizon).unwrap();
    for user in users {
        sheet.put(user).unwrap();
    }
    sheet.page()
}

fn three() -> Page {
    let moved = Moved { from: "Europe/Berlin".parse().unwrap(), last: "20260607".parse().unwrap() };
    let users = [
        user(1, "Europe/Oslo", &[]),
        user(2, "Europe/Berlin", &["stub"]),
        User { moved: Some(moved), consent: false, ..user(4, "Asia/Tokyo", &["apns", "stub"]) },
    ];
    page(&users, always()).unwrap().stamped(0x0807_0605_0403_0201)
}

#[test]
fn the_bytes_are_fixed() {
    let mut wanted = vec![2, 1, 2, 3, 4, 5, 6, 7, 8];
    // the zones 322 (Tokyo), 433 (Berlin) and 463 (Oslo), as distances
    wanted.extend([3, 0xc2, 2, 110, 29]);
    wanted.extend(b"\x02\x04stub\x04apns");
    // kinds: both channels without consent; consent alone; consent and stub
    wanted.extend([3, 6, 1, 3]);
    // three users: runs of keys, 1 and 2, then 4
    wanted.extend([3, 64, 2, 1, 1, 1, 0]);
    // zones 2, 1, 0 and kinds 1, 2, 0 of two bits; due from minute 120; one move, after two that did not, from zone 1
    wanted.extend([2, 0b00_0110, 2, 0b00_1001, 64, 120, 1, 2, 1]);
    wanted.extend([0xff, 0xcd, 0xd4, 0x09]);
    assert_eq!(three().bytes(), wanted);
}

#[test]
fn another_version_is_named_and_what_follows_the_end_is_an_error() {
    let mut bytes = three().into_bytes();
    bytes.push(0);
    assert!(Page::new(7, bytes.clone()).rows().unwrap_err().to_string().contains("1 bytes follow"));
    bytes[0] = 9;
    let error = Page::new(7, bytes).rows().unwrap_err().to_string();
    assert!(error.contains("page 7") && error.contains("version 9"), "{error}");
}

#[test]
fn who_is_alone_or_gone_leaves_no_trace() {
    let mut sheet = Sheet::open(0, Some(&three()), always()).unwrap();
    assert_eq!(sheet.stamp(), Some(0x0807_0605_0403_0201));
    assert!(sheet.remove(Uid(4)) && sheet.remove(Uid(2)) && !sheet.remove(Uid(2)));
    let alone = page(&[user(1, "Europe/Oslo", &[])], always());
    assert_eq!(sheet.page(), alone);
    sheet.remove(Uid(1));
    assert_eq!(sheet.page(), None);
}

#[test]
fn a_dense_page_of_many_kinds_takes_few_bytes() {
    let zones =
        ["Asia/Tokyo", "Europe/Berlin", "America/Lima", "Asia/Kolkata", "America/New_York", "Africa/Lagos"];
    let channels: [&[&str]; 4] = [&["fcm"], &["apns"], &["fcm", "webpush"], &[]];
    let users: Vec<_> = (0..256usize)
        .map(|n| {
            let spread = n * 7_919 % 1_000_003;
            let consent_at = Instant::from_timestamp(
                1_700_000_000 + 90 * i64::try_from(spread * spread % 1_000_003).unwrap(),
                0,
            );
            User {
                consent_at: consent_at.unwrap(),
                ..user(n as u64, zones[spread % 6], channels[spread % 4])
            }
        })
        .collect();
    assert!(page(&users, always()).unwrap().size() <= 256 * 5);
    let later = "2030-01-01T00:00:00Z".parse().unwrap();
    assert!(page(&users, Horizon::at(later)).unwrap().size() <= 256);
}

#[test]
fn a_zone_that_is_not_known_here_is_named() {
    let mut bytes = three().into_bytes();
    // Tokyo's number, 322, becomes 16,066
    bytes[11] = 125;
    let error = Page::new(7, bytes).rows().unwrap_err().to_string();
    assert!(error.contains("page 7: zone number 16066"), "{error}");
}

proptest! {
    #[test]
    fn rubbish_is_an_error_and_never_a_panic(
        changes: Vec<(prop::sample::Index, u8)>, cut in prop::option::of(any::<prop::sample::Index>()), more: Vec<u8>)
    {
        let mut bytes = three().into_bytes();
        for (place, byte) in changes {
            *place.get_mut(&mut bytes) = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        for bytes in [bytes, more] {
            let page = Page::new(0, bytes);
            if let (Ok(rows), Ok(sheet)) = (page.rows(), Sheet::open(0, Some(&page), always())) {
                // what is read can be written
                prop_assert_eq!(sheet.page().map_or(0, |page| page.rows().unwrap().len()), rows.len());
            }
        }
    }
}
