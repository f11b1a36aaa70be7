use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use domain::{ChannelName, Uid, Zone};
use plumbing::File;

use super::*;
use crate::{Applied, Change, EmbeddedDirectory, NewUser, Page, Position, User, UserPatch};

/// A directory of which the pages of some parts come out as nonsense.
struct Garbled {
    inner: EmbeddedDirectory,
    bad: AtomicBool,
}

#[async_trait]
impl Directory for Garbled {
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
        let pages = self.inner.pages(part, numbers).await?;
        let bad = part < PARTS / 2 && self.bad.load(Ordering::SeqCst);
        let garbled = |page: Page| if bad { Page::new(page.number(), vec![0]) } else { page };
        Ok(pages.into_iter().map(|page| page.map(garbled)).collect())
    }

    async fn zones(&self) -> Result<Vec<(Zone, u64)>, StoreError> {
        self.inner.zones().await
    }
}

impl Garbled {
    async fn put(&self, zone: &str) {
        let user = |n: u64| {
            Change::Put(NewUser {
                uid: Uid(n << 48),
                zone: zone.parse().unwrap(),
                region: Default::default(),
                language: Default::default(),
                consent: Some(true),
                consent_at: None,
                devices: None,
                name: None,
            })
        };
        self.apply((0..200).map(user).collect(), now()).await.unwrap();
    }
}

fn now() -> Instant {
    "2026-05-10T12:00:00Z".parse().unwrap()
}

fn in_zone(column: &Column, name: &str) -> u64 {
    column.population().find(|(zone, _)| zone.name() == name).map_or(0, |(_, n)| n)
}

#[tokio::test]
async fn a_page_that_cannot_be_read_keeps_its_rows_and_holds_up_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = Arc::new(File::open(&folder.path().join("data")).unwrap());
    let inner = EmbeddedDirectory::open(file).unwrap();
    let directory = Garbled { inner, bad: AtomicBool::new(true) };
    directory.put("Asia/Tokyo").await;
    let mut column = Column::default();
    let refreshed = column.refresh(&directory, now()).await.unwrap();
    let known = |column: &Column| (0..200).filter(|n| column.user(Uid(n << 48)).is_some()).count() as u64;
    assert_eq!(known(&column), column.users());
    assert!(column.loaded() && (1..200).contains(&column.users()), "{}", column.users());
    assert!((1..refreshed.pages).contains(&refreshed.unreadable), "{refreshed:?}");
    assert_eq!(column.unreadable().count(), refreshed.unreadable);
    // it stays known, though nothing is read
    let again = column.refresh(&directory, now()).await.unwrap();
    assert_eq!((again.pages, again.unreadable), (0, refreshed.unreadable));

    directory.bad.store(false, Ordering::SeqCst);
    directory.put("Asia/Seoul").await;
    assert_eq!(column.refresh(&directory, now()).await.unwrap().unreadable, 0);
    assert_eq!((column.users(), in_zone(&column, "Asia/Seoul")), (200, 200));
    assert_eq!(known(&column), 200);

    directory.bad.store(true, Ordering::SeqCst);
    directory.put("Asia/Tokyo").await;
    let refreshed = column.refresh(&directory, now()).await.unwrap();
    // rows of before may tell a zone that is another by now
    assert_eq!((column.users(), (1..200).contains(&known(&column))), (200, true));
    assert!(refreshed.unreadable > 0 && column.users() == 200);
    let (new, old) = (in_zone(&column, "Asia/Tokyo"), in_zone(&column, "Asia/Seoul"));
    assert!(new > 0 && old > 0 && new + old == 200, "{new} {old}");
}
