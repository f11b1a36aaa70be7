//! Pages as they are read.

use directory::{Change, NewUser, PARTS};
use domain::Uid;

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
