use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta};
use domain::{BatchId, Shard, ShardCount, Uid, Zone};
use proptest::{collection, option, prelude::*, sample};

use super::*;
use crate::{BatchEntry, BatchZone, MOST_UIDS};

/// `users` are (uid, position, zone), `zones` are (name, deadline in seconds after 2026-06-07T20:00:00Z).
fn batch(zones: &[(&str, i64)], users: &[(u64, u32, u8)]) -> Batch {
    let instant = DateTime::from_timestamp(1_780_862_400, 0).unwrap();
    let zone = |&(name, after): &(&str, i64)| BatchZone {
        zone: name.parse().unwrap(),
        deadline: instant + TimeDelta::seconds(after),
    };
    let entry = |&(uid, position, zone): &(u64, u32, u8)| BatchEntry { uid: Uid(uid), position, zone };
    Batch {
        id: BatchId(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f),
        campaign: "nightly".parse().unwrap(),
        day: "20260607".parse().unwrap(),
        shard: Shard(1),
        instant,
        slot: 7,
        channel: "stub".parse().unwrap(),
        attempt: 1,
        not_before: None,
        zones: zones.iter().map(zone).collect(),
        entries: users.iter().map(entry).collect(),
    }
}

#[rustfmt::skip]
const FIRST_TRY: &[u8] = &[
    1,                                                      // version
    3,                                                      // users
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,   // id
    7, b'n', b'i', b'g', b'h', b't', b'l', b'y',            // campaign
    // 20260607 = 0x7f + (0x4d << 7) + (0x54 << 14) + (0x09 << 21)
    0xff, 0xcd, 0xd4, 0x09,                                 // day
    1,                                                      // shard
    // 2 x 1780862400 = 3561724800 = (0x37 << 7) + (0x2e << 14) + (0x22 << 21) + (0x0d << 28)
    0x80, 0xb7, 0xae, 0xa2, 0x0d,                           // instant
    7,                                                      // slot
    4, b's', b't', b'u', b'b',                              // channel
    1,                                                      // attempt
    0b10,                                                   // contiguous positions
    1,                                                      // zones
    13, b'E', b'u', b'r', b'o', b'p', b'e', b'/', b'B', b'e', b'r', b'l', b'i', b'n',
    // 2 x 7200 = 14400 = 0x40 + (0x70 << 7)
    0xc0, 0x70,                                             // deadline: midnight in Berlin
    // 1001 = 0x69 + (0x07 << 7)
    0xe9, 0x07,                                             // first uid
    4,                                                      // stride: 1001, 1005, 1025 are 4 and 20 apart
    1, 5,                                                   // further uids
    // 300 = 0x2c + (0x02 << 7)
    0xac, 0x02,                                             // first position
];

#[rustfmt::skip]
const THIRD_TRY: &[u8] = &[
    1,
    2,
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    7, b'n', b'i', b'g', b'h', b't', b'l', b'y',
    0xff, 0xcd, 0xd4, 0x09,
    1,
    0x80, 0xb7, 0xae, 0xa2, 0x0d,
    7,
    4, b's', b't', b'u', b'b',
    3,                                                      // attempt
    0b01,                                                   // not before, positions in steps
    // 2 x 1780862600500 = 3561725201000
    //   = 0x68 + (0x14 << 7) + (0x76 << 14) + (0x3a << 21) + (0x54 << 28) + (0x67 << 35)
    0xe8, 0x94, 0xf6, 0xba, 0xd4, 0x67,                     // not before: 200.5 s after the instant
    2,                                                      // zones
    3, b'U', b'T', b'C', 0xc0, 0x70,
    4, b'C', b'u', b'b', b'a', 1,                           // deadline: a second before the instant, -1
    0,                                                      // first uid
    // 2^64 - 1, the only step and so the stride
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
    1,
    5,                                                      // first position
    // 200 = 0x48 + (0x01 << 7)
    0xc8, 0x01,                                             // 205
    1, 0,                                                   // zone indexes
];

fn third_try() -> Batch {
    let mut batch = batch(&[("UTC", 7_200), ("Cuba", -1)], &[(0, 5, 1), (u64::MAX, 205, 0)]);
    batch.attempt = 3;
    batch.not_before = Some(batch.instant + TimeDelta::milliseconds(200_500));
    batch
}

#[test]
fn the_bytes_are_as_documented() {
    let first = batch(&[("Europe/Berlin", 7_200)], &[(1001, 300, 0), (1005, 301, 0), (1025, 302, 0)]);
    assert_eq!(encode(&first), FIRST_TRY);
    assert_eq!(decode(FIRST_TRY), Ok(first));
    assert_eq!(encode(&third_try()), THIRD_TRY);
    assert_eq!(decode(THIRD_TRY), Ok(third_try()));
    assert_eq!((count(FIRST_TRY), count(THIRD_TRY)), (Ok(3), Ok(2)));
}

#[test]
fn a_thousand_dense_uids_take_about_a_byte_each() {
    let n = ShardCount::new(4).unwrap();
    let due = |u: &u64| Shard::of(Uid(*u), n) == Shard(1) && domain::slot(Uid(*u), 60) == 7;
    let users: Vec<_> = (0..).filter(due).zip(0..1_000).map(|(uid, p)| (uid, p, 0)).collect();
    let batch = batch(&[("Europe/Berlin", 7_200)], &users);
    let bytes = encode(&batch);
    // a step of 4 x 128 or more, which takes a second byte, has a chance of (59/60)^127 = 12%
    assert!((1_100..1_300).contains(&bytes.len()), "{}", bytes.len());
    assert_eq!(decode(&bytes), Ok(batch));
}

#[test]
fn every_cut_says_so_and_nothing_may_follow() {
    for whole in [FIRST_TRY, THIRD_TRY] {
        assert_eq!(decode(&[]), Err(Malformed::Empty));
        for end in 1..whole.len() {
            let cut = decode(&whole[..end]);
            assert!(matches!(cut, Err(Malformed::Truncated(_))), "{end}: {cut:?}");
        }
        assert_eq!(decode(&[whole, &[0, 0]].concat()), Err(Malformed::Trailing(2)));
    }
}

/// What is said of FIRST_TRY with the bytes from `at` on replaced.
fn changed(at: usize, by: &[u8]) -> &'static str {
    let mut bytes = FIRST_TRY.to_vec();
    bytes.splice(at..at + by.len(), by.iter().copied());
    decode(&bytes).unwrap_err().reason()
}

#[test]
fn what_is_wrong_is_named() {
    assert_eq!(changed(0, &[0]), "version_too_old");
    assert_eq!(changed(0, &[2]), "version_too_new");
    assert_eq!(changed(1, &[0]), "no_users");
    // 1001 users
    assert_eq!(changed(1, &[0xe9, 0x07]), "too_many_users");
    assert_eq!(changed(19, b"N"), "bad_name");
    assert_eq!(changed(19, &[0xff]), "bad_name");
    // 20260607 + 93 = 20260700
    assert_eq!(changed(26, &[0xdc, 0xce]), "bad_day");
    assert_eq!(changed(38, b"!"), "bad_name");
    assert_eq!(changed(42, &[0]), "bad_attempt");
    assert_eq!(changed(42, &[16]), "bad_attempt");
    assert_eq!(changed(43, &[0b110]), "unknown_flag");
    assert_eq!(changed(44, &[0]), "no_zones");
    // 257 zones
    assert_eq!(changed(44, &[0x81, 0x02]), "too_many_zones");
    assert_eq!(changed(48, b"X"), "unknown_zone");
    assert_eq!(changed(63, &[0]), "bad_number");
    assert_eq!(changed(64, &[0]), "uid_order");
    let mut high_index = THIRD_TRY.to_vec();
    *high_index.last_mut().unwrap() = 2;
    assert_eq!(decode(&high_index), Err(Malformed::ZoneIndex { index: 2, zones: 2 }));
    for foreign in [&b"5"[..], b"{\"uid\":", &[b' '; 2_000_000]] {
        assert_eq!(decode(foreign), Err(Malformed::TooNew(foreign[0])));
        assert!(count(foreign).is_err());
    }
}

#[test]
fn positions_that_leave_32_bits_are_refused() {
    let end = FIRST_TRY.len() - 2;
    // 2^32 - 2, of three contiguous ones
    let bytes = [&FIRST_TRY[..end], &[0xfe, 0xff, 0xff, 0xff, 0x0f]].concat();
    assert_eq!(decode(&bytes), Err(Malformed::PositionOrder));
}

#[test]
fn what_would_not_come_back_is_refused_before() {
    let zones = [("UTC", 1)];
    let many: Vec<_> = (0..=1_000).map(|i| (u64::from(i), i, 0)).collect();
    assert_eq!(check(&batch(&zones, &many[..MOST_UIDS])), Ok(()));
    for (bad, reason) in [
        (batch(&zones, &many), "too_many_users"),
        (batch(&zones, &[]), "no_users"),
        (batch(&[], &[(1, 1, 0)]), "no_zones"),
        (batch(&[("UTC", 1); 257], &[(1, 1, 0)]), "too_many_zones"),
        (batch(&zones, &[(1, 1, 1)]), "bad_zone_index"),
        (batch(&zones, &[(2, 1, 0), (1, 2, 0)]), "uid_order"),
        (batch(&zones, &[(1, 1, 0), (1, 2, 0)]), "uid_order"),
        (batch(&zones, &[(1, 2, 0), (2, 2, 0)]), "position_order"),
        (Batch { attempt: 16, ..batch(&zones, &[(1, 1, 0)]) }, "bad_attempt"),
    ] {
        assert_eq!(check(&bad).unwrap_err().reason(), reason);
    }
}

fn rising<T: Ord + std::fmt::Debug>(values: impl Strategy<Value = T>) -> impl Strategy<Value = BTreeSet<T>> {
    collection::btree_set(values, 1..=60)
}

fn batches() -> impl Strategy<Value = Batch> {
    let zones = sample::subsequence(Zone::all().collect::<Vec<_>>(), 1..=40);
    let head = (any::<u128>(), "[a-z0-9][a-z0-9_-]{0,31}", "[a-z0-9][a-z0-9_-]{0,31}", any::<(u32, u32)>());
    let times = (-62_000_000_000i64..200_000_000_000, -100_000i64..100_000, 1u8..=15);
    let not_before = option::of(-62_000_000_000_000i64..200_000_000_000_000);
    let users = (rising(any::<u64>()), rising(any::<u32>()), any::<Option<u32>>());
    (head, times, not_before, zones, users).prop_map(|(head, times, not_before, zones, users)| {
        let (id, campaign, channel, (shard, slot)) = head;
        let instant = DateTime::from_timestamp(times.0, 0).unwrap();
        let deadline = instant + TimeDelta::seconds(times.1);
        let (uids, positions, contiguous) = users;
        let positions: Vec<_> = match contiguous {
            Some(first) => (first.min(u32::MAX - 60)..).take(60).collect(),
            None => positions.into_iter().collect(),
        };
        let entry = |(uid, position): (u64, u32)| {
            let zone = u8::try_from(usize::from(uid.to_le_bytes()[0]) % zones.len()).unwrap();
            BatchEntry { uid: Uid(uid), position, zone }
        };
        Batch {
            id: BatchId(id),
            campaign: campaign.parse().unwrap(),
            day: "20260607".parse().unwrap(),
            shard: Shard(shard),
            instant,
            slot,
            channel: channel.parse().unwrap(),
            attempt: times.2,
            not_before: not_before.map(|ms| DateTime::from_timestamp_millis(ms).unwrap()),
            entries: uids.into_iter().zip(positions).map(entry).collect(),
            zones: zones.into_iter().map(|zone| BatchZone { zone, deadline }).collect(),
        }
    })
}

proptest! {
    #[test]
    fn every_batch_comes_back(batch in batches()) {
        let bytes = encode(&batch);
        prop_assert_eq!(count(&bytes), Ok(batch.entries.len()));
        prop_assert_eq!(decode(&bytes), Ok(batch));
    }

    #[test]
    fn no_bytes_harm(bytes in collection::vec(any::<u8>(), 0..400)) {
        let _ = (decode(&bytes), count(&bytes));
        let _ = decode(&[&[NEWEST][..], &bytes].concat());
    }

    #[test]
    fn what_is_read_of_mutated_bytes_is_a_sound_batch(
        batch in batches(),
        changes in collection::vec((any::<sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = encode(&batch);
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        match decode(&bytes) {
            Ok(read) => prop_assert_eq!(decode(&encode(&read)), Ok(read)),
            Err(error) => prop_assert!(!error.reason().is_empty() && error.to_string().len() < 300),
        }
    }
}
