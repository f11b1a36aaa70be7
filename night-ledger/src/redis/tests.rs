//! What needs no server.

use domain::{Instant, Night, SealKey, Shard};
use plumbing::{Redis, RedisSettings, redis_slot};

use super::keys::{self, SealKeys};
use crate::Group;

#[test]
fn what_one_call_touches_lies_in_one_slot() {
    let redis = Redis::new(&RedisSettings::at(vec!["redis://127.0.0.1:1".into()], "stepcast")).unwrap();
    let night = Night { campaign: "nightly".parse().unwrap(), day: "20260607".parse().unwrap() };
    let instant = Instant::from_timestamp(1_780_862_400, 0).unwrap();
    let slot = |key: &String| redis_slot(key.as_bytes());
    let mut slots = std::collections::BTreeSet::new();
    for shard in (0..64).map(Shard) {
        let key = SealKey { night: night.clone(), shard, instant };
        let (of_shard, SealKeys { seal, claims, moved, channels, pending, worked, leases }) =
            keys::of_seal(&redis, &key);
        let all = [
            of_shard.zones(),
            of_shard.progress(),
            of_shard.sums(),
            seal,
            claims,
            moved,
            channels,
            pending,
            worked,
            leases,
        ];
        assert!(all.iter().all(|key| slot(key) == slot(&all[0])), "{all:?}");
        assert!(all.iter().enumerate().all(|(at, key)| !all[..at].contains(key)), "{all:?}");
        slots.insert(slot(&all[0]));
    }
    assert!(slots.len() > 55, "a night's shards are spread over the cluster");
    let nights = [keys::nights(&redis), keys::first_seen(&redis), keys::brakes(&redis, &night)];
    assert!(nights.iter().all(|key| slot(key) == slot(&nights[0])));
    assert_eq!(nights[2], "stepcast:main:{nights}:brakes:nightly:20260607");
    let shards = [
        keys::shard_leases(&redis),
        keys::members(&redis, Group::Schedulers),
        keys::members(&redis, Group::Senders),
    ];
    assert!(shards.iter().all(|key| slot(key) == slot(&shards[0])));
}
