//! Several schedulers over one ledger: each has its share of the shards, and what one leaves the others take up.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use night_ledger::Owner;
use scheduler::Scheduler;

use crate::{
    DAILY,
    rig::{Rig, at, campaign, user},
    shared::Shared,
    sorted,
};

const SHARDS: u32 = 16;
/// Far longer than a busy machine stands still: who loses a lease for that publishes a batch twice, as it may.
const LEASE: Duration = Duration::from_secs(4);

struct Several {
    rig: Rig,
    shared: Arc<Shared>,
    all: Vec<Scheduler>,
    got: Vec<u64>,
}

impl Several {
    async fn new(n: u64) -> Self {
        let rig = Rig::new(campaign(DAILY, 60), SHARDS).await;
        rig.put((0..600).map(|u| user(u, "UTC")), at("2026-05-10T12:00:00Z")).await;
        let shared = Arc::new(Shared::over(Arc::clone(&rig.ledger)));
        let all = (1..=n).map(|owner| rig.beside(&shared, SHARDS, owner, LEASE)).collect();
        Self { rig, shared, all, got: Vec::new() }
    }

    /// All tick at that time, once.
    async fn tick(&mut self, now: &str) {
        for scheduler in &mut self.all {
            let published = scheduler.tick(at(now)).await.unwrap().published;
            let batches = self.rig.take(published).await;
            self.got.extend(batches.iter().flat_map(|b| &b.entries).map(|e| e.uid.0));
        }
    }

    /// All tick at that time until it is so; answers how long that took.
    async fn until(&mut self, now: &str, so: impl Fn(&Self) -> bool) -> Duration {
        let began = Instant::now();
        while !so(self) {
            assert!(began.elapsed() < Duration::from_secs(20), "{:?}", self.shared.holders());
            self.tick(now).await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        began.elapsed()
    }

    fn held_by(&self, owner: u64) -> usize {
        self.shared.holders().get(&owner).copied().unwrap_or(0)
    }

    fn held(&self) -> usize {
        self.shared.holders().values().sum()
    }
}

const WHOLE: usize = 16;

#[tokio::test]
async fn shards_are_shared_out_and_the_night_is_published_once() {
    let mut several = Several::new(3).await;
    several.until("2026-05-10T21:00:00Z", |s| s.held() == WHOLE && (1..=3).all(|o| s.held_by(o) > 0)).await;
    for now in
        ["2026-05-10T21:51:00Z", "2026-05-10T22:00:20Z", "2026-05-10T22:00:40Z", "2026-05-10T22:01:00Z"]
    {
        several.until(now, |s| s.held() == WHOLE).await;
        several.tick(now).await;
    }
    assert_eq!(sorted(several.got.clone()), (0..600).collect::<Vec<_>>());
    assert_eq!(several.rig.sums("20260510").await.due, 600);
}

/// One joins, and gets its shards at the next renewals; one dies, and the others take over when its term is over, which is
/// less than one and a half terms from its last word.
#[tokio::test]
async fn who_joins_gets_a_share_and_who_dies_is_replaced() {
    let mut several = Several::new(1).await;
    several.until("2026-05-10T21:51:00Z", |s| s.held_by(1) == WHOLE).await;
    several.tick("2026-05-10T22:00:10Z").await;
    let second = several.rig.beside(&several.shared, SHARDS, 2, LEASE);
    several.all.push(second);
    let took = several.until("2026-05-10T22:00:10Z", |s| s.held() == WHOLE && s.held_by(2) > 0).await;
    assert!(took < LEASE * 2, "{took:?}");
    several.tick("2026-05-10T22:00:20Z").await;
    drop(several.all.remove(0));
    let took = several.until("2026-05-10T22:00:20Z", |s| s.held_by(2) == WHOLE).await;
    assert!(took < LEASE * 2, "{took:?}");
    several.tick("2026-05-10T22:00:40Z").await;
    several.tick("2026-05-10T22:01:00Z").await;
    assert_eq!(sorted(several.got.clone()), (0..600).collect::<Vec<_>>(), "all, and nobody twice");
}

/// One that is cut off from the ledger's leases loses its shards to the other; what it still published under its old epoch
/// is refused at the checkpoint and comes again under the same ids, and nobody is left out.
#[tokio::test]
async fn who_is_cut_off_is_outbid_and_nobody_is_left_out() {
    let mut several = Several::new(2).await;
    several.until("2026-05-10T21:51:00Z", |s| s.held() == WHOLE && s.held_by(2) > 0).await;
    several.tick("2026-05-10T22:00:10Z").await;
    several.shared.cut_off(Owner(1));
    let cut_off = several.all.remove(0);
    several.until("2026-05-10T22:00:10Z", |s| s.held_by(2) == WHOLE).await;
    several.tick("2026-05-10T22:00:30Z").await;
    let mut cut_off = cut_off;
    cut_off.tick(at("2026-05-10T22:00:30Z")).await.unwrap_err();
    several.tick("2026-05-10T22:01:00Z").await;
    assert_eq!(sorted(several.got.clone()), (0..600).collect::<Vec<_>>());
}

/// A clean stop gives the shards up at once.
#[tokio::test]
async fn who_leaves_is_replaced_at_the_next_renewal() {
    let mut several = Several::new(2).await;
    several
        .until("2026-05-10T21:51:00Z", |s| s.held() == WHOLE && s.held_by(2) > 0 && s.held_by(1) > 0)
        .await;
    several.all[0].leave().await.unwrap();
    assert_eq!(several.held_by(1), 0);
    drop(several.all.remove(0));
    let took = several.until("2026-05-10T21:51:00Z", |s| s.held_by(2) == WHOLE).await;
    assert!(took < LEASE, "{took:?}");
}
