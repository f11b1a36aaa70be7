//! The change log.

use std::collections::BTreeSet;

use directory::{Change, Changed, Directory, NewUser, PARTS, Position};
use domain::Uid;

use crate::engine::{Engine, new, noon, put};

/// Where the log stands.
async fn head(of: &dyn Directory) -> Vec<Position> {
    of.changed(&[]).await.unwrap().into_iter().map(|changed| changed.upto).collect()
}

/// What changed since, over all parts; none was to be read whole.
async fn pages_since(of: &dyn Directory, since: &[Position]) -> Vec<u32> {
    let changed = of.changed(since).await.unwrap();
    assert_eq!(changed.len(), PARTS as usize);
    assert!(changed.iter().all(|changed| !changed.whole));
    changed.into_iter().flat_map(|changed| changed.pages).collect()
}

pub(crate) async fn the_log_tells_what_changed_once(engine: &dyn Engine) {
    let directory = engine.directory();
    directory.apply((0..600).map(|uid| put(uid, "Asia/Tokyo", &[])).collect(), noon()).await.unwrap();
    let start = head(&*directory).await;
    assert_eq!(pages_since(&*directory, &start).await, [0; 0]);
    for n in 0..3 {
        let address = n.to_string();
        let change = vec![put(1, "Asia/Tokyo", &[("stub", &address)]), put(300 + n, "Asia/Seoul", &[])];
        directory.apply(change, noon()).await.unwrap();
    }
    let pages = pages_since(&*directory, &start).await;
    assert_eq!(pages.iter().collect::<BTreeSet<_>>().len(), 2, "{pages:?}");
    assert_eq!(pages.len(), 2, "each once: {pages:?}");
    let middle = head(&*directory).await;
    directory.apply((300..600).map(|uid| Change::Delete(Uid(uid))).collect(), noon()).await.unwrap();
    directory.apply((256..300).map(|uid| Change::Delete(Uid(uid))).collect(), noon()).await.unwrap();
    // two pages, of which nobody is left in either
    let pages = pages_since(&*directory, &middle).await;
    assert_eq!(pages.len(), 2);
    for page in pages {
        assert_eq!(directory.pages(page % PARTS, &[page]).await.unwrap(), [None]);
    }
}

pub(crate) async fn a_log_that_does_not_reach_back_says_so(engine: &dyn Engine) {
    let directory = engine.directory();
    directory.apply((0..2).map(|uid| put(uid, "Asia/Tokyo", &[])).collect(), noon()).await.unwrap();
    let start = head(&*directory).await;
    let part = start.iter().position(|position| *position != Position::default()).unwrap();
    // as many changes of the part as the log keeps, and then one more
    for n in 0..1_024u32 {
        let (zone, gone) = if n % 2 == 0 { ("Asia/Seoul", false) } else { ("Asia/Tokyo", true) };
        let change = if gone { Change::Delete(Uid(1)) } else { put(1, zone, &[]) };
        directory.apply(vec![change], noon()).await.unwrap();
        let last = directory.changed(&start).await.unwrap().swap_remove(part);
        let whole = n >= 1_023;
        assert_eq!(last, Changed { upto: last.upto, pages: vec![0], whole }, "{n}");
    }
    // a position that was never given out, as after a loss of data
    let other = engine.directory().changed(&[]).await.unwrap();
    let mut wrong: Vec<_> = other.iter().map(|changed| changed.upto).collect();
    wrong.rotate_left(1);
    let changed = directory.changed(&wrong).await.unwrap();
    assert!(changed[part].whole, "{:?}", changed[part]);
    let before = (part + PARTS as usize - 1) % PARTS as usize;
    assert_eq!(changed[before], Changed { whole: true, ..Changed::default() });
}

pub(crate) async fn what_changes_nothing_in_the_roster_is_not_told(engine: &dyn Engine) {
    let directory = engine.directory();
    directory.apply(vec![put(1, "Asia/Tokyo", &[("stub", "a")])], noon()).await.unwrap();
    let start = head(&*directory).await;
    let name = NewUser { name: Some("another".into()), ..new(1, "Asia/Tokyo", &[("stub", "b")]) };
    directory.apply(vec![Change::Put(name)], noon()).await.unwrap();
    assert_eq!(directory.users(&[Uid(1)]).await.unwrap()[0].as_ref().unwrap().name, "another");
    assert_eq!(pages_since(&*directory, &start).await, [0; 0]);
    assert_eq!(head(&*directory).await, start);
}
