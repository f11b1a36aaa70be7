//! Pages as they are read.

use chrono::TimeDelta;
use directory::{Change, Column, NewUser, PARTS};
use domain::{Instant, Uid};
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

use crate::engine::{Engine, at, new, noon, put, roster};

pub(crate) async fn a_page_holds_neighbours_and_every_uid_has_one(engine: &dyn Engine) {
    let directory = engine.directory();
    let mut uids: Vec<_> = (0..256).chain(512..600).collect();
    uids.extend([1 << 40, u64::MAX - 255, u64::MAX - 1, u64::MAX]);
    directory.apply(uids.iter().map(|uid| put(*uid, "Asia/Tokyo", &[])).collect(), noon()).await.unwrap();
    let rows = roster(&*directory).await;
    assert_eq!(rows.iter().map(|row| row.uid.0).collect::<Vec<_>>(), uids);
    let mut sizes = Vec::new();
    for (part, changed) in (0..PARTS).zip(directory.changed(&[]).await.unwrap()) {
        for page in directory.pages(part, &changed.pages).await.unwrap() {
            let page = page.unwrap();
            assert_eq!(page.number() % PARTS, part);
            sizes.push(page.rows().unwrap().len());
        }
    }
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 3, 88, 256]);
}

pub(crate) async fn due_from_is_the_next_whole_minute(engine: &dyn Engine) {
    let directory = engine.directory();
    let times = ["12:00:00Z", "12:00:00.001Z", "12:00:59.999Z", "12:01:00Z", "23:59:59Z"];
    let user = |(time, uid): (&str, u64)| {
        let consent_at = Some(at(&format!("2026-06-07T{time}")));
        Change::Put(NewUser { consent_at, ..new(uid, "Asia/Tokyo", &[]) })
    };
    let first =
        Change::Put(NewUser { consent_at: Some(at("1970-01-01T00:00:00Z")), ..new(8, "Asia/Tokyo", &[]) });
    let last = Change::Put(NewUser {
        consent_at: Some(at("9999-12-31T23:59:59.999Z")),
        ..new(9, "Asia/Tokyo", &[])
    });
    let changes = times.into_iter().zip(1..).map(user).chain([first, last]).collect();
    directory.apply(changes, noon()).await.unwrap();
    let due: Vec<_> = roster(&*directory).await.iter().map(|row| (row.uid, row.due_from)).collect();
    let minutes = [
        "2026-06-07T12:00:00Z",
        "2026-06-07T12:01:00Z",
        "2026-06-07T12:01:00Z",
        "2026-06-07T12:01:00Z",
        "2026-06-08T00:00:00Z",
        "1970-01-01T00:00:00Z",
        "+10000-01-01T00:00:00Z",
    ];
    assert_eq!(due, [1, 2, 3, 4, 5, 8, 9].map(Uid).into_iter().zip(minutes.map(at)).collect::<Vec<_>>());
}

pub(crate) async fn what_is_too_old_goes_from_a_page_that_is_written(engine: &dyn Engine) {
    let directory = engine.directory();
    directory.apply(vec![put(1, "Asia/Tokyo", &[]), put(2, "Asia/Tokyo", &[])], noon()).await.unwrap();
    let later = noon() + TimeDelta::days(17);
    // another page
    directory.apply(vec![put(1 << 20, "Asia/Tokyo", &[])], later).await.unwrap();
    let due = async || roster(&*directory).await.iter().map(|row| row.due_from).collect::<Vec<_>>();
    assert_eq!(due().await, [noon(), noon(), later]);
    directory.apply(vec![put(3, "Asia/Tokyo", &[])], later).await.unwrap();
    assert_eq!(due().await, [Instant::UNIX_EPOCH, Instant::UNIX_EPOCH, later, later]);
    let users = directory.users(&[Uid(1), Uid(2)]).await.unwrap();
    assert!(users.iter().flatten().all(|user| user.consent_at == noon()));
}

/// Random changes, days apart: whoever is due in a night that may still be sealed is so by the records, by the pages and
/// by a column that follows, by a clock half a day off.
pub(crate) async fn who_is_due_is_as_the_records_have_it(engine: &dyn Engine) {
    let directory = engine.directory();
    let place = prop_oneof![0u64..8, (0u64..3).prop_map(|n| n << 30)];
    let change = (place, any::<bool>(), prop::option::of(0i64..25 * 86_400));
    let step = (prop::collection::vec(change, 1..6), 0i64..100, -12i64..=12);
    let mut runner = TestRunner::deterministic();
    let (mut now, mut column) = (noon(), Column::default());
    for _ in 0..engine.rounds() {
        let (changes, hours, ahead) = step.new_tree(&mut runner).unwrap().current();
        now += TimeDelta::hours(hours);
        let change = |(uid, consent, seconds): (u64, bool, Option<i64>)| {
            let consent_at = seconds.map(|seconds| now - TimeDelta::seconds(seconds));
            Change::Put(NewUser { consent: Some(consent), consent_at, ..new(uid, "Asia/Tokyo", &[]) })
        };
        directory.apply(changes.into_iter().map(change).collect(), now).await.unwrap();
        column.refresh(&*directory, now + TimeDelta::hours(ahead)).await.unwrap();
        let rows = roster(&*directory).await;
        let users = directory.users(&rows.iter().map(|row| row.uid).collect::<Vec<_>>()).await.unwrap();
        let mut kept: Vec<_> = column.rows().collect();
        kept.sort_by_key(|row| row.uid);
        assert_eq!((kept.len(), users.len()), (rows.len(), rows.len()));
        for ((row, kept), user) in rows.iter().zip(&kept).zip(&users) {
            let user = user.as_ref().unwrap();
            assert_eq!((user.uid, kept.uid), (row.uid, row.uid));
            let minute = user.consent_at - TimeDelta::seconds(user.consent_at.timestamp() % 60);
            let oldest = now - TimeDelta::days(16);
            let near = (-1..=2).map(|minutes| minute + TimeDelta::minutes(minutes));
            for night in near.chain([oldest, now]).filter(|night| *night >= oldest) {
                let due = user.consent_at <= night;
                assert_eq!((row.due_from <= night, kept.due_at(night)), (due, due), "{row:?} at {night}");
            }
        }
    }
}
