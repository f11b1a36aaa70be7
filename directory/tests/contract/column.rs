//! What a scheduler keeps in memory.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use chrono::TimeDelta;
use directory::{
    Applied, Change, Changed, Column, Directory, Home, NewUser, Page, Position, StoreError, User, UserPatch,
};
use domain::{ChannelName, Instant, Uid, Zone};
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

use crate::engine::{Engine, at, loaded, new, noon, put, roster, told};

pub(crate) async fn a_column_has_what_the_roster_has(engine: &dyn Engine) {
    let directory = engine.directory();
    let empty = loaded(&*directory, noon()).await;
    assert!(empty.loaded() && empty.users() == 0 && empty.rows().next().is_none());
    let uids = (0..300u64).chain((0..300).map(|n| n * 0x1234_5678_9abc));
    let zones = ["Asia/Tokyo", "Europe/Berlin", "America/Lima"];
    let change = |uid: u64| {
        let devices = [("stub", "x"), ("apns", "y")];
        let user = new(
            uid,
            zones[usize::try_from(uid % 3).unwrap()],
            &devices[..usize::try_from(uid % 2).unwrap() + 1],
        );
        Change::Put(NewUser { consent: Some(!uid.is_multiple_of(5)), ..user })
    };
    directory.apply(uids.map(change).collect(), noon()).await.unwrap();
    let column = loaded(&*directory, noon()).await;
    let rows = roster(&*directory).await;
    assert_eq!(column.users(), rows.len() as u64);
    let mut found: Vec<_> = column.rows().collect();
    found.sort_by_key(|row| row.uid);
    let mut each = Vec::new();
    column.each(|row| each.push(row));
    assert_eq!(each, column.rows().collect::<Vec<_>>());
    for (row, has) in rows.iter().zip(found) {
        let kind = &column.kinds()[usize::from(has.kind)];
        let mut channels = row.channels.clone();
        channels.sort_unstable();
        assert_eq!((has.uid, has.moved, kind.consent), (row.uid, None, row.consent));
        assert_eq!((column.zones()[usize::from(has.zone)], &kind.channels), (row.zone, &channels));
        assert!(has.due_at(noon()) && !has.due_at(noon() - TimeDelta::minutes(1)));
        assert_eq!(column.user(row.uid), Some(Home { zone: row.zone, moved: None }));
    }
    assert!([300, 301, u64::MAX].iter().all(|uid| column.user(Uid(*uid)).is_none()));
    let mut population: Vec<_> = column.population().collect();
    population.sort_unstable_by_key(|(zone, _)| zone.name());
    assert_eq!(population, directory.zones().await.unwrap());
}

/// A zone, channels, consent, and the minutes since it.
type Given = (usize, Vec<usize>, bool, i64);

/// Random changes over some pages, with a column that follows every so often: it says what one says that was loaded anew.
pub(crate) async fn a_column_that_follows_is_one_that_was_loaded_anew(engine: &dyn Engine) {
    let directory = engine.directory();
    let uid = prop_oneof![0u64..700, (0u64..200).prop_map(|n| n << 32), any::<u64>()];
    let user = (0usize..4, prop::collection::vec(0usize..5, 0..3), any::<bool>(), 0i64..40_000);
    let steps = prop::collection::vec((uid, prop::option::weighted(0.7, user)), 1..40);
    let zones = ["Pacific/Pago_Pago", "Europe/Berlin", "Asia/Tokyo", "Pacific/Kiritimati"];
    let channels = ["a", "b", "c", "d", "e"];
    let mut runner = TestRunner::deterministic();
    let (mut now, mut column, mut seen) = (noon(), Column::default(), Vec::new());
    for round in 0..engine.rounds() {
        let change = |(uid, user): (u64, Option<Given>)| match user {
            Some((zone, devices, consent, minutes)) => {
                let devices: Vec<_> = devices.into_iter().map(|i| (channels[i], "x")).collect();
                let consent_at = Some(now - TimeDelta::minutes(minutes) - TimeDelta::milliseconds(minutes));
                Change::Put(NewUser { consent: Some(consent), consent_at, ..new(uid, zones[zone], &devices) })
            }
            None => Change::Delete(Uid(uid)),
        };
        let mut changes: Vec<_> =
            steps.new_tree(&mut runner).unwrap().current().into_iter().map(change).collect();
        // take out again some of those that nothing else would find
        seen.extend(changes.iter().filter_map(|change| match change {
            Change::Put(new) => Some(new.uid),
            Change::Delete(_) => None,
        }));
        if round % 3 == 0 {
            changes.extend(seen.drain(..seen.len() / 2).map(Change::Delete));
        }
        directory.apply(changes, now).await.unwrap();
        column.refresh(&*directory, now).await.unwrap();
        let anew = loaded(&*directory, now).await;
        assert_eq!(told(&column, now), told(&anew, now));
        let sorted = |column: &Column| {
            let mut population: Vec<_> = column.population().collect();
            population.sort_unstable_by_key(|(zone, _)| zone.name());
            population
        };
        assert_eq!((column.users(), sorted(&column)), (anew.users(), sorted(&anew)));
        now += TimeDelta::minutes(5);
    }
    assert_eq!(column.users(), roster(&*directory).await.len() as u64);
}

pub(crate) async fn what_is_too_old_is_not_kept(engine: &dyn Engine) {
    let directory = engine.directory();
    let long_ago = at("2026-05-01T00:00:30Z");
    directory.apply(vec![put(1, "Asia/Tokyo", &[]), put(2, "Asia/Tokyo", &[])], long_ago).await.unwrap();
    directory.apply(vec![put(1, "Europe/Berlin", &[])], at("2026-05-02T00:00:00Z")).await.unwrap();
    directory.apply(vec![put(2, "Europe/Berlin", &[])], noon() - TimeDelta::days(14)).await.unwrap();
    directory.apply(vec![put(3, "Europe/Berlin", &[])], noon() - TimeDelta::days(14)).await.unwrap();
    let column = loaded(&*directory, noon()).await;
    let mut rows: Vec<_> = column.rows().collect();
    rows.sort_by_key(|row| row.uid);
    assert_eq!(rows.iter().map(|row| row.moved.is_some()).collect::<Vec<_>>(), [false, true, false]);
    assert!(rows[0].due_from == 0 && rows[1].due_from == 0);
    assert!(rows[2].due_at(noon() - TimeDelta::days(14)) && !rows[2].due_at(noon() - TimeDelta::days(15)));
    let mut population: Vec<_> = column.population().map(|(zone, n)| (zone.name(), n)).collect();
    population.sort_unstable();
    assert_eq!(population, [("Asia/Tokyo", 0), ("Europe/Berlin", 3)]);
}

/// A directory whose pages cannot be read now and then.
struct Flaky {
    inner: Arc<dyn Directory>,
    down: AtomicBool,
}

#[async_trait]
impl Directory for Flaky {
    async fn apply(&self, changes: Vec<Change>, now: Instant) -> Result<Vec<Applied>, StoreError> {
        self.inner.apply(changes, now).await
    }

    async fn patch(&self, patch: UserPatch, now: Instant) -> Result<Applied, StoreError> {
        self.inner.patch(patch, now).await
    }

    async fn users(&self, uids: &[Uid]) -> Result<Vec<Option<User>>, StoreError> {
        self.inner.users(uids).await
    }

    async fn drop_device(&self, _: Uid, _: &ChannelName, _: &str, _: Instant) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn changed(&self, since: &[Position]) -> Result<Vec<Changed>, StoreError> {
        self.inner.changed(since).await
    }

    async fn pages(&self, part: u32, numbers: &[u32]) -> Result<Vec<Option<Page>>, StoreError> {
        if self.down.load(Ordering::SeqCst) && part >= 32 {
            return Err(StoreError::Unavailable("on purpose".into()));
        }
        self.inner.pages(part, numbers).await
    }

    async fn zones(&self) -> Result<Vec<(Zone, u64)>, StoreError> {
        self.inner.zones().await
    }
}

pub(crate) async fn a_refresh_that_fails_leaves_what_stands(engine: &dyn Engine) {
    let directory = Flaky { inner: engine.directory(), down: AtomicBool::new(true) };
    let everybody = |zone| (0..100u64).map(move |n| put(n << 20, zone, &[])).collect();
    directory.apply(everybody("Asia/Tokyo"), noon()).await.unwrap();
    let mut column = Column::default();
    assert!(column.refresh(&directory, noon()).await.is_err());
    assert!(!column.loaded());
    directory.down.store(false, Ordering::SeqCst);
    column.refresh(&directory, noon()).await.unwrap();
    assert!(column.loaded() && column.users() == 100);
    directory.down.store(true, Ordering::SeqCst);
    directory.apply(everybody("Asia/Seoul"), noon()).await.unwrap();
    assert!(column.refresh(&directory, noon()).await.is_err());
    assert!(column.loaded() && column.rows().count() == 100);
    directory.down.store(false, Ordering::SeqCst);
    let refreshed = column.refresh(&directory, noon()).await.unwrap();
    assert_eq!(refreshed.whole, 0);
    assert_eq!(told(&column, noon()), told(&loaded(&directory, noon()).await, noon()));
    assert_eq!(column.refresh(&directory, noon()).await.unwrap().pages, 0);
}

pub(crate) async fn kinds_that_are_gone_are_forgotten(engine: &dyn Engine) {
    let directory = engine.directory();
    let mut column = loaded(&*directory, noon()).await;
    for round in 0..20u32 {
        let change = |n: u32| put(n.into(), "Asia/Tokyo", &[(&format!("c{}", round * 100 + n / 8), "x")]);
        directory.apply((0..100u32).map(change).collect(), noon()).await.unwrap();
        let change =
            |n: u32| put(u64::from(n) << 20, "Asia/Tokyo", &[(&format!("d{}", round * 100 + n), "x")]);
        directory.apply((0..100u32).map(change).collect(), noon()).await.unwrap();
        column.refresh(&*directory, noon()).await.unwrap();
        assert!(column.kinds().len() < 1_200, "{}", column.kinds().len());
        assert_eq!(told(&column, noon()), told(&loaded(&*directory, noon()).await, noon()));
    }
}
