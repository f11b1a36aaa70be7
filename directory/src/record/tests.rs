use domain::{ChannelName, Day, Instant, Language, Region, Uid, Zone};
use proptest::prelude::*;

use super::*;
use crate::{Device, Moved};

fn decode(uid: Uid, record: &[u8]) -> Result<User, RecordError> {
    Decoder::default().decode(uid, record)
}

fn ada() -> User {
    User {
        uid: Uid(1001),
        zone: "Asia/Tokyo".parse().unwrap(),
        moved: Some(Moved { from: "Europe/Berlin".parse().unwrap(), last: "20260607".parse().unwrap() }),
        region: Region::default(),
        language: "de".parse().unwrap(),
        consent: true,
        consent_at: Instant::from_timestamp_millis(1_000).unwrap(),
        devices: vec![Device {
            channel: "stub".parse().unwrap(),
            address: "x".into(),
            registered_at: Instant::from_timestamp_millis(-1).unwrap(),
        }],
        name: "Åsa".into(),
    }
}

/// The record of [`ada`], by hand: 20260607 is 0x135_26ff, in sevens from below 0x7f 0x4d 0x54 0x09.
fn golden() -> Vec<u8> {
    let parts: [&[u8]; 12] = [
        &[1, 0b11],
        b"\x0aAsia/Tokyo",
        b"\x0dEurope/Berlin",
        &[0xff, 0xcd, 0xd4, 0x09],
        b"\x04main",
        b"\x02de",
        b"\x04\xc3\x85sa",
        &[0xd0, 0x0f],
        &[1],
        b"\x04stub",
        b"\x01x",
        &[1],
    ];
    parts.concat()
}

#[test]
fn the_bytes_are_fixed() {
    assert_eq!(encode(&ada()), golden());
    assert_eq!(decode(Uid(1001), &golden()), Ok(ada()));
}

#[test]
fn what_is_cut_or_longer_or_newer_is_an_error() {
    let record = golden();
    for end in 0..record.len() {
        assert_eq!(decode(Uid(1001), &record[..end]), Err(RecordError::Truncated), "{end}");
    }
    assert_eq!(decode(Uid(1001), &[record.as_slice(), b"??"].concat()), Err(RecordError::Trailing(2)));
    assert_eq!(decode(Uid(1001), &[&[2], &record[1..]].concat()), Err(RecordError::Version(2)));
    assert!(matches!(
        decode(Uid(1001), &[&[1, 0b111], &record[2..]].concat()),
        Err(RecordError::Field("flags", _))
    ));
}

#[test]
fn a_zone_that_is_not_known_is_named() {
    let end = decode(Uid(1), b"\x01\x00\x0cMars/Tharsis").unwrap_err();
    assert!(matches!(&end, RecordError::Field("zone", why) if why.contains("Mars/Tharsis")), "{end}");
}

fn any_zone() -> impl Strategy<Value = Zone> {
    prop::sample::select(Zone::all().collect::<Vec<_>>())
}

fn any_instant() -> impl Strategy<Value = Instant> {
    (-8_000_000_000_000i64..250_000_000_000_000)
        .prop_map(|ms| Instant::from_timestamp_millis(ms).unwrap_or_default())
}

prop_compose! {
    fn any_device()(channel in "[a-z0-9][a-z0-9_-]{0,31}", address in "[^\\pC]{1,100}", at in any_instant()) -> Device {
        Device { channel: channel.parse::<ChannelName>().unwrap(), address, registered_at: at }
    }
}

prop_compose! {
    fn any_user()(
        uid: u64,
        zone in any_zone(),
        moved in prop::option::of((any_zone(), 0u64..2_000_000)),
        region in "[a-z0-9][a-z0-9_-]{0,31}",
        language in "[a-z]{2}(-[A-Za-z0-9]{1,8}){0,3}",
        consent: bool,
        consent_at in any_instant(),
        devices in prop::collection::vec(any_device(), 0..=16),
        name in ".{0,200}",
    ) -> User {
        let first: Day = "19700101".parse().unwrap();
        let day = |n| Day::of(first.date() + chrono::Days::new(n)).unwrap();
        User {
            uid: Uid(uid), zone, moved: moved.map(|(from, n)| Moved { from, last: day(n) }),
            region: region.parse::<Region>().unwrap(), language: language.parse::<Language>().unwrap(),
            consent, consent_at, devices, name,
        }
    }
}

proptest! {
    #[test]
    fn a_record_is_read_as_it_was_written(user in any_user()) {
        prop_assert_eq!(decode(user.uid, &encode(&user)), Ok(user));
    }

    #[test]
    fn what_was_read_before_changes_nothing(users in prop::collection::vec(any_user(), 0..40)) {
        let mut decoder = Decoder::default();
        for user in users {
            prop_assert_eq!(decoder.decode(user.uid, &encode(&user)), Ok(user));
        }
    }

    #[test]
    fn garbage_is_an_error_or_a_user_and_never_a_panic(bytes: Vec<u8>, at in 0usize..60, to: u8) {
        let _ = decode(Uid(1), &bytes);
        let mut record = golden();
        let at = at % record.len();
        record[at] = to;
        if let Ok(user) = decode(Uid(1), &record) {
            prop_assert_eq!(encode(&user), record);
        }
    }
}
