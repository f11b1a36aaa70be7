use directory::{Change, EmbeddedDirectory, NewUser};
use plumbing::File;

use super::*;

struct Rig {
    directory: Arc<EmbeddedDirectory>,
    homes: Homes,
    _folder: tempfile::TempDir,
}

fn now() -> Instant {
    "2026-06-07T12:00:00Z".parse().unwrap()
}

impl Rig {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(File::open(&folder.path().join("data")).unwrap());
        let directory = Arc::new(EmbeddedDirectory::open(file).unwrap());
        let homes = Homes::new(Arc::clone(&directory) as _);
        Self { directory, homes, _folder: folder }
    }

    async fn put(&self, uid: u64, zone: &str) {
        let user = NewUser {
            uid: Uid(uid),
            zone: zone.parse().unwrap(),
            region: None,
            language: None,
            consent: None,
            consent_at: None,
            devices: None,
            name: None,
        };
        self.directory.apply(vec![Change::Put(user)], now()).await.unwrap();
    }

    /// Where users are; after a move with the zone before.
    async fn zones(&self, uids: &[u64]) -> Vec<Option<String>> {
        let uids: Vec<_> = uids.iter().copied().map(Uid).collect();
        let shown = |home: Home| match home.moved {
            Some(moved) => format!("{} from {}", home.zone, moved.from),
            None => home.zone.to_string(),
        };
        self.homes.of(&uids).await.unwrap().into_iter().map(|home| home.map(shown)).collect()
    }
}

#[tokio::test]
async fn what_is_in_memory_is_what_the_last_look_found() {
    let rig = Rig::new();
    rig.put(1, "Asia/Tokyo").await;
    let (tokyo, lima) = (Some("Asia/Tokyo".to_owned()), Some("America/Lima from Asia/Tokyo".to_owned()));
    // nothing is loaded: the directory is asked
    assert_eq!(rig.zones(&[1, 2, 1]).await, [tokyo.clone(), None, tokyo.clone()]);
    rig.homes.look(now()).await.unwrap();
    rig.put(1, "America/Lima").await;
    rig.put(2, "UTC").await;
    // the first is in memory, the second is not and is asked for
    assert_eq!(rig.zones(&[1, 2]).await, [tokyo, Some("UTC".into())]);
    rig.homes.forget(Uid(1));
    assert_eq!(rig.zones(&[1]).await[0], lima);
    rig.homes.look(now()).await.unwrap();
    assert!(rig.homes.followed().changed.is_empty());
    assert_eq!(rig.zones(&[1]).await, [lima]);
    rig.directory.apply(vec![Change::Delete(Uid(2))], now()).await.unwrap();
    rig.homes.look(now()).await.unwrap();
    assert_eq!(rig.zones(&[2]).await, [None]);
}

#[tokio::test]
async fn who_is_changed_while_a_look_is_under_way_is_still_asked_for_after_it() {
    let rig = Rig::new();
    rig.put(1, "Asia/Tokyo").await;
    rig.homes.look(now()).await.unwrap();
    let (looked, ()) = tokio::join!(rig.homes.look(now()), async {
        rig.put(1, "America/Lima").await;
        rig.homes.forget(Uid(1));
    });
    looked.unwrap();
    assert_eq!(rig.zones(&[1]).await, [Some("America/Lima from Asia/Tokyo".into())]);
    assert_eq!(rig.homes.followed().changed.len(), 1);
}

#[tokio::test]
async fn changes_in_mind_are_bounded() {
    let rig = Rig::new();
    rig.put(1, "Asia/Tokyo").await;
    rig.homes.look(now()).await.unwrap();
    rig.put(1, "America/Lima").await;
    (0..=u64::try_from(MOST_CHANGED).unwrap()).for_each(|uid| rig.homes.forget(Uid(uid + 10)));
    assert!(rig.homes.followed().changed.is_empty());
    // everybody is asked for
    assert_eq!(rig.zones(&[1]).await, [Some("America/Lima from Asia/Tokyo".into())]);
}
