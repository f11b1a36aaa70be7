//! Records, and what follows from them.

use std::collections::BTreeMap;

use directory::{Applied, Change, Moved, NewUser, User};
use domain::{Instant, Uid};
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

use crate::engine::{Engine, at, channels, new, noon, put, roster, zones};

pub(crate) async fn an_empty_directory_answers(engine: &dyn Engine) {
    let directory = engine.directory();
    assert_eq!(directory.users(&[Uid(1), Uid(2)]).await.unwrap(), [None, None]);
    assert_eq!(directory.users(&[]).await.unwrap(), []);
    assert_eq!(roster(&*directory).await, []);
    assert_eq!(zones(&*directory).await, []);
    assert_eq!(directory.apply(Vec::new(), noon()).await.unwrap(), []);
    assert_eq!(directory.pages(5, &[5, 69]).await.unwrap(), [None, None]);
    assert!(!directory.drop_device(Uid(1), &"stub".parse().unwrap(), "a", noon()).await.unwrap());
    assert_eq!(directory.apply(vec![Change::Delete(Uid(1))], noon()).await.unwrap(), [Applied::Absent]);
}

pub(crate) async fn changes_are_applied_in_order_and_twice_is_once(engine: &dyn Engine) {
    let directory = engine.directory();
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
    assert_eq!(zones(&*directory).await, [("Europe/Berlin", 2)]);
    let rows = roster(&*directory).await;
    assert_eq!(rows.iter().map(|row| row.uid.0).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(channels(&rows[0]), [""; 0]);
    assert_eq!(channels(&rows[1]), ["stub", "webhook"]);
    assert_eq!(rows[1].due_from, noon());
}

pub(crate) async fn a_user_twice_in_a_call_is_changed_twice(engine: &dyn Engine) {
    let directory = engine.directory();
    // far apart, so that they go different ways within the call
    let uids = [7, 1 << 20, 1 << 40, u64::MAX];
    let changes = uids.iter().flat_map(|uid| {
        let first = put(*uid, "Asia/Tokyo", &[("stub", "a")]);
        let name = NewUser { name: Some("later".into()), devices: None, ..new(*uid, "Asia/Tokyo", &[]) };
        [
            first,
            Change::Delete(Uid(*uid)),
            put(*uid, "Asia/Seoul", &[("stub", "b")]),
            put(*uid, "Asia/Tokyo", &[]),
            Change::Put(name),
        ]
    });
    use Applied::{Created, Deleted, Updated};
    let applied = directory.apply(changes.collect(), noon()).await.unwrap();
    let each = [Created, Deleted, Created, Updated, Updated];
    assert!(applied.chunks(5).all(|applied| applied == each), "{applied:?}");
    for user in directory.users(&uids.map(Uid)).await.unwrap() {
        let user = user.unwrap();
        assert_eq!((user.zone.name(), user.name.as_str(), user.devices.len()), ("Asia/Tokyo", "later", 0));
        assert_eq!(user.moved.unwrap().from.name(), "Asia/Seoul");
    }
    assert_eq!(zones(&*directory).await, [("Asia/Seoul", 0), ("Asia/Tokyo", 4)]);
}

pub(crate) async fn a_move_is_in_the_record_the_roster_and_the_zones(engine: &dyn Engine) {
    let directory = engine.directory();
    directory.apply(vec![put(1, "Pacific/Pago_Pago", &[])], at("2026-06-01T00:00:00Z")).await.unwrap();
    let change = vec![put(1, "Pacific/Kiritimati", &[])];
    assert_eq!(directory.apply(change, at("2026-06-07T13:00:00Z")).await.unwrap(), [Applied::Updated]);
    let moved = Moved { from: "Pacific/Pago_Pago".parse().unwrap(), last: "20260607".parse().unwrap() };
    assert_eq!(directory.users(&[Uid(1)]).await.unwrap()[0].as_ref().unwrap().moved, Some(moved));
    let row = roster(&*directory).await.remove(0);
    assert_eq!((row.zone.name(), row.moved), ("Pacific/Kiritimati", Some(moved)));
    assert_eq!(zones(&*directory).await, [("Pacific/Kiritimati", 1), ("Pacific/Pago_Pago", 0)]);
    // the next move forgets the one before
    directory.apply(vec![put(1, "Asia/Tokyo", &[])], at("2026-06-20T00:00:00Z")).await.unwrap();
    assert_eq!(zones(&*directory).await, [("Asia/Tokyo", 1), ("Pacific/Kiritimati", 0)]);
    directory.apply(vec![Change::Delete(Uid(1))], noon()).await.unwrap();
    assert_eq!(zones(&*directory).await, []);
}

pub(crate) async fn a_record_of_a_later_version_is_an_error_that_names_the_user(engine: &dyn Engine) {
    let directory = engine.directory();
    engine.plant_record(Uid(7), &[9, 9]).await;
    let error = directory.users(&[Uid(7)]).await.unwrap_err().to_string();
    assert!(error.contains("uid 7") && error.contains("version 9"), "{error}");
    let error = directory.apply(vec![put(7, "Asia/Tokyo", &[])], noon()).await.unwrap_err().to_string();
    assert!(error.contains("uid 7") && error.contains("version 9"), "{error}");
}

/// Writers on the same few pages at once: each one's users, and what each adds to the users of all.
pub(crate) async fn two_writers_at_once_on_a_page_lose_nothing(engine: &dyn Engine) {
    let write = |writer: u64| {
        let directory = engine.directory();
        async move {
            for round in 0..25 {
                let own = 10 + round * 2 + writer;
                let name =
                    NewUser { name: Some(format!("{writer} {round}")), ..new(writer, "Asia/Tokyo", &[]) };
                let changes = vec![put(own, "Asia/Tokyo", &[("stub", "x")]), Change::Put(name)];
                let applied = directory.apply(changes, noon()).await.unwrap();
                assert_eq!(applied[0], Applied::Created);
            }
        }
    };
    tokio::join!(write(0), write(1));
    let directory = engine.directory();
    let uids: Vec<_> = (0..60).map(Uid).collect();
    let users = directory.users(&uids).await.unwrap();
    assert_eq!(users.iter().flatten().count(), 52);
    for (user, name) in users[..2].iter().zip(["0 24", "1 24"]) {
        assert_eq!(user.as_ref().unwrap().name, name);
    }
    assert_eq!(roster(&*directory).await.len(), 52);
    assert_eq!(zones(&*directory).await, [("Asia/Tokyo", 52)]);
}

/// After any changes, roster and counts are what the records say.
pub(crate) async fn roster_and_zones_follow_the_records(engine: &dyn Engine) {
    let directory = engine.directory();
    let zones_of = ["Pacific/Pago_Pago", "Europe/Berlin", "Asia/Tokyo", "Pacific/Kiritimati"];
    let channels_of = [("a", "x"), ("b", "y"), ("c", "z")];
    let place = prop_oneof![0u64..5, (0u64..3).prop_map(|n| n << 30)];
    let step = (place, prop::option::of((0usize..4, prop::collection::vec(0usize..3, 0..3))), 0i64..200);
    let (steps, mut runner) = (prop::collection::vec(step, 1..6), TestRunner::deterministic());
    let mut now = noon();
    for _ in 0..engine.rounds() {
        let steps = steps.new_tree(&mut runner).unwrap().current();
        let change = |(uid, step, _): &(u64, Option<(usize, Vec<usize>)>, i64)| match step {
            Some((zone, devices)) => {
                put(*uid, zones_of[*zone], &devices.iter().map(|i| channels_of[*i]).collect::<Vec<_>>())
            }
            None => Change::Delete(Uid(*uid)),
        };
        now += chrono::TimeDelta::hours(steps[0].2);
        directory.apply(steps.iter().map(change).collect(), now).await.unwrap();
        let uids: Vec<_> = (0..5).chain([1 << 30, 2 << 30]).map(Uid).collect();
        let users: Vec<User> = directory.users(&uids).await.unwrap().into_iter().flatten().collect();
        let rows = roster(&*directory).await;
        assert_eq!(rows.len(), users.len());
        let mut counts = BTreeMap::<&str, u64>::new();
        for (row, user) in rows.iter().zip(&users) {
            *counts.entry(user.zone.name()).or_default() += 1;
            if let Some(moved) = user.moved {
                counts.entry(moved.from.name()).or_default();
            }
            assert_eq!((row.uid, row.zone, row.moved), (user.uid, user.zone, user.moved));
            assert_eq!(row.consent, user.consent);
            // what is too old to matter may be gone
            let old = user.consent_at <= now - chrono::TimeDelta::days(17);
            assert!(
                row.due_from == user.consent_at || (old && row.due_from == Instant::UNIX_EPOCH),
                "{row:?}"
            );
            let mut named: Vec<_> = user.devices.iter().map(|device| device.channel.as_str()).collect();
            named.sort_unstable();
            named.dedup();
            assert_eq!(channels(row), named);
        }
        assert_eq!(zones(&*directory).await, counts.into_iter().collect::<Vec<_>>());
    }
}
