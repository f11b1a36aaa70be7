use plumbing::RedisSettings;

use super::{going::Going, load::Load, *};
use crate::{Amount, ReportId, Source, ids::Epoch, work::units};

fn redis() -> Redis {
    Redis::new(&RedisSettings::at(vec!["redis://127.0.0.1:1".to_owned()], "t")).unwrap()
}

fn day() -> Day {
    "20260607".parse().unwrap()
}

fn report(uid: u64, day: Day) -> Report {
    let source: Source = "phone".parse().unwrap();
    let id = ReportId::of(&source, "x").ok();
    Report { uid: Uid(uid), day, source, amount: Amount::Add(1), id, freezes: Instant::MAX_UTC }
}

#[test]
fn keys_are_the_documented_ones() {
    let redis = redis();
    assert_eq!(keys::pages(&redis, 31, day()), "t:main:{s.31}:steps:20260607");
    assert_eq!(keys::ids(&redis, Uid(1_001), Epoch::of(day())), "t:main:{s.31}:ids:5152:1001");
    assert_eq!(part(Uid(u64::MAX)), 63);
}

#[test]
fn what_a_script_has_to_do_with_is_in_one_slot() {
    let redis = redis();
    for uid in (0..40_000).step_by(331) {
        let next = Report { day: day().next(), ..report(uid, day()) };
        let mut one = Going::new(units(vec![report(uid, day()), next]).pop().unwrap());
        one.work();
        let mut load = Load::new(&redis, one.unit.part());
        one.load(&redis, &mut load, Instant::UNIX_EPOCH);
        assert!(load.command().slot().is_some());
    }
}
