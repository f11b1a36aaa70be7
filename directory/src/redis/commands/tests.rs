use plumbing::{RedisSettings, redis_slot};
use proptest::prelude::*;

use super::*;
use crate::{
    PARTS,
    page::place::{page_of, uid_at},
    redis::keys::{part_of_user, records},
};

fn redis() -> Redis {
    Redis::new(&RedisSettings::at(vec!["redis://127.0.0.1:1".into()], "stepcast")).unwrap()
}

fn tag(part: u32) -> Option<u16> {
    Some(redis_slot(format!("d.{part}").as_bytes()))
}

#[test]
fn the_keys_are_fixed() {
    let redis = redis();
    let keys = Keys::of(&redis, 7);
    assert_eq!(keys.pages(), "stepcast:main:{d.7}:pages");
    assert_eq!(keys.record(Uid(1001)), "stepcast:main:{d.7}:u:1001");
}

#[test]
fn what_is_said_of_a_part_stays_in_its_slot() {
    let redis = redis();
    for part in 0..PARTS {
        assert_eq!(changed(&redis, part, Position::default()).slot(), tag(part));
        assert_eq!(pages(&redis, part, &[part, part + PARTS]).slot(), tag(part));
        assert_eq!(zones(&redis, part).slot(), tag(part));
    }
}

proptest! {
    /// The CRC16 of every key of a command is that of its part.
    #[test]
    fn what_is_said_of_users_stays_in_their_slot(uid: u64, keys in prop::collection::vec(0u64..1 << 48, 0..20)) {
        let (redis, page) = (redis(), page_of(Uid(uid)));
        let uids: Vec<_> = keys.into_iter().map(|key| uid_at(page, key)).chain([Uid(uid)]).collect();
        let part = part_of(page);
        prop_assert!(uids.iter().all(|uid| part_of_user(*uid) == part));
        prop_assert_eq!(read(&redis, page, &uids).slot(), tag(part));
        for uid in &uids {
            let one = records(&redis, &[*uid]);
            prop_assert!(one.iter().eq([Keys::of(&redis, part).record(*uid).as_bytes()]));
            prop_assert!(one.iter().all(|key| Some(redis_slot(key)) == tag(part)));
        }
        let edit = Write {
            page,
            over: None,
            stamp: 7,
            bytes: None,
            turned: true,
            records: uids.into_iter().map(|uid| (uid, None)).collect(),
            zones: vec![("Asia/Tokyo".parse().unwrap(), 1, 0)],
        };
        prop_assert_eq!(write(&redis, &edit).slot(), tag(part));
    }
}
