//! temporary
#![allow(missing_docs)]
use std::sync::Arc;
use async_trait::async_trait;
use directory::*;
use domain::{ChannelName, Instant, Uid, Zone};
struct Mem(EmbeddedDirectory, u32);
#[async_trait]
impl Directory for Mem {
    async fn apply(&self, c: Vec<Change>, n: Instant) -> Result<Vec<Applied>, StoreError> { self.0.apply(c, n).await }
    async fn users(&self, u: &[Uid]) -> Result<Vec<Option<User>>, StoreError> { self.0.users(u).await }
    async fn drop_device(&self, u: Uid, c: &ChannelName, a: &str, g: Instant) -> Result<bool, StoreError> { self.0.drop_device(u, c, a, g).await }
    async fn changed(&self, since: &[Position]) -> Result<Vec<Changed>, StoreError> {
        let mut all = self.0.changed(since).await?;
        for (part, c) in (0u32..).zip(&mut all) { c.pages = (0..self.1).filter(|p| p % 64 == part).collect(); c.whole = true; }
        Ok(all)
    }
    async fn pages(&self, part: u32, numbers: &[u32]) -> Result<Vec<Option<Page>>, StoreError> {
        let one = self.0.pages(0, &[0]).await?.remove(0).unwrap();
        let _ = part;
        let bytes = one.bytes().to_vec();
        Ok(numbers.iter().map(|n| Some(Page::new(*n, bytes.clone()))).collect())
    }
    async fn zones(&self) -> Result<Vec<(Zone, u64)>, StoreError> { self.0.zones().await }
}
#[tokio::test]
async fn time_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = Arc::new(plumbing::File::open(&folder.path().join("d")).unwrap());
    let dir = EmbeddedDirectory::open(file).unwrap();
    let at: Instant = "2001-01-01T00:00:00Z".parse().unwrap();
    let users = (0..256u64).map(|u| Change::Put(NewUser { uid: Uid(u), zone: "Europe/Berlin".parse().unwrap(), region: None, language: None, consent: Some(true), consent_at: Some(at), devices: Some(vec![NewDevice { channel: "stub".parse().unwrap(), address: format!("t{u}"), registered_at: None }]), name: None }));
    dir.apply(users.collect(), at).await.unwrap();
    let mem = Mem(dir, 39_063);
    let mut column = Column::default();
    let t = std::time::Instant::now();
    let now: Instant = "2026-06-07T19:50:00Z".parse().unwrap();
    column.refresh(&mem, now).await.unwrap();
    println!("load {:?} users {} bytes {}", t.elapsed(), column.users(), column.bytes());
    let t = std::time::Instant::now();
    let mut n = 0u64; column.each(|r| n += r.uid.0 & 1);
    println!("walk {:?} {n}", t.elapsed());
    for (window, shards) in [(60, 64), (1, 64), (60, 4), (0, 1)] {
        let campaign = domain::Campaign { name: "nightly".parse().unwrap(), line: "0 22 * * *".parse().unwrap(), window, channels: vec!["stub".parse().unwrap()], no_steps: Default::default() };
        let night = domain::Night { campaign: campaign.name.clone(), day: "20260607".parse().unwrap() };
        let zones = vec![night_ledger::SealZone { zone: "Europe/Berlin".parse().unwrap(), deadline: now }];
        let t = std::time::Instant::now();
        let seals = scheduler::seals_of(&column, &campaign, night, "2026-06-07T20:00:00Z".parse().unwrap(), zones, domain::ShardCount::new(shards).unwrap());
        println!("window {window} N {shards}: {:?} due {}", t.elapsed(), seals.iter().map(|s| s.1.due.len()).sum::<usize>());
    }
}
