//! Many users.

use directory::Applied;

use crate::engine::{Engine, channels, noon, put, roster, zones};

pub(crate) async fn a_hundred_thousand_users_are_written_and_read(engine: &dyn Engine) {
    let directory = engine.directory();
    let zones_of = ["Europe/Berlin", "Asia/Tokyo", "America/Lima", "Pacific/Apia"];
    for batch in 0..10u64 {
        let uids = batch * 10_000..(batch + 1) * 10_000;
        let changes =
            uids.map(|uid| put(uid, zones_of[usize::try_from(uid % 4).unwrap()], &[("stub", "x")])).collect();
        let applied = directory.apply(changes, noon()).await.unwrap();
        assert!(applied.iter().all(|a| *a == Applied::Created));
    }
    let rows = roster(&*directory).await;
    assert_eq!(rows.len(), 100_000);
    assert!(rows.iter().zip(0..).all(|(row, uid)| row.uid.0 == uid && channels(row) == ["stub"]));
    assert_eq!(zones(&*directory).await.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [25_000; 4]);
}
